//! Channels, rates and flow rates of the links over 802.11, found before the run.
//!
//! The result is written into the network, so that a resolved scenario has it in its nodes and
//! links, and a run computes nothing. `demands` lists the source and destination of each demand.

mod apply;
mod asked;
mod demands;

use std::cmp::Reverse;

use backlane_assignment as fcra;
use backlane_param::Params;
use backlane_units::Rate;

use crate::aside::aside;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Link, NodeKind, Scenario};
use crate::plain;
use crate::problems::Problems;
use crate::topology::Network;
use crate::tree::{Table, Value};
use crate::wifi;

pub(crate) use apply::check_flow_rates;
use asked::{Asked, Found};
use demands::Demands;

/// Minimum ratio of signal to interference of each rate of OFDM, in decibels: the minimum
/// sensitivities of IEEE 802.11a-1999 (§17.3.10.1, Table 91), −82 dBm to −65 dBm, above the noise
/// that it assumes: −101 dBm in 20 MHz, a noise figure of 10 dB and 5 dB of implementation.
const OFDM_THRESHOLDS_DB: [(u64, f64); 8] = [
    (54_000_000, 21.0),
    (48_000_000, 20.0),
    (36_000_000, 16.0),
    (24_000_000, 12.0),
    (18_000_000, 9.0),
    (12_000_000, 7.0),
    (9_000_000, 5.0),
    (6_000_000, 4.0),
];

/// The ratio for a rate; `None` for those of 802.11b, for which no such table is available.
fn threshold_db(rate_bps: u64) -> Option<f64> {
    let known = OFDM_THRESHOLDS_DB
        .iter()
        .find(|(rate, _)| *rate == rate_bps);
    known.map(|(_, db)| *db)
}

/// Flow rates are whole bits per second: the tolerance by which an exact fit may exceed the limit.
const ROUNDING: f64 = 1e-6;

/// More links than this take too long.
const MOST_LINKS: usize = 2_000;

/// Computes the assignment of a normal `[assignment]`, and writes it into network, scenario and
/// tree.
pub(crate) fn assign(
    tree: &mut Table,
    network: &mut Network,
    scenario: &mut Scenario,
    problems: &mut Problems,
) {
    let span = tree.place("assignment", Span::default());
    let wifi_channels = tree.table("wifi").and_then(|wifi| wifi.entry("channels"));
    let wifi_channels = wifi_channels.filter(|entry| !entry.is_default);
    let wifi_channels = wifi_channels.map(|entry| entry.item.span);
    let Some(table) = tree.table("assignment") else {
        return;
    };
    let Some(wifi) = &scenario.wifi else {
        let message = "there are no radios to assign channels to";
        problems.error(Code::NoRadio, span, message, "add a section [wifi]");
        return;
    };
    let Ok(config) = fcra::Config::read(&plain::values(table)) else {
        return;
    };
    let is_radio = |link: &usize| scenario.links[*link].radio().is_some();
    let asked = Asked {
        config,
        table,
        span,
        network,
        scenario,
        wifi,
        links: (0..scenario.links.len()).filter(is_radio).collect(),
    };
    if !asked.is_clear(wifi_channels, problems) {
        return;
    }
    let Some(found) = asked.find(problems) else {
        return;
    };
    let links = asked.links;
    let scale = found.scale;
    apply::write(&found, &links, network, scenario);
    if let Some(Value::Table(table)) = tree.get_mut("assignment").map(|item| &mut item.value) {
        table.set("scale", span, apply::number(scale, span));
    }
}

/// The method for the flow rates of links.
enum Rule {
    Given(Vec<[f64; 2]>),
    Equal,
    Paths,
    Throughput,
}

/// The input of the search, which may take long.
struct Search {
    mesh: fcra::Mesh,
    demands: Vec<fcra::Demand>,
    /// Whether a demand has a rate.
    is_required: bool,
    rule: Rule,
    extra_hops: u8,
    adjusts: bool,
}

impl Search {
    fn answer(self) -> Result<fcra::Assignment, fcra::Error> {
        let (mesh, demands, hops) = (&self.mesh, &self.demands, self.extra_hops);
        let flows = match self.rule {
            Rule::Given(rates) => fcra::FlowRates(rates),
            Rule::Equal => fcra::equal(mesh)?,
            Rule::Paths => fcra::by_paths(mesh, demands, hops)?,
            Rule::Throughput => fcra::throughput(mesh, demands, hops)?,
        };
        let first = fcra::assign(mesh, &flows, self.adjusts)?;
        if !self.is_required || first.scale >= 1.0 - ROUNDING {
            return Ok(first);
        }
        // Demands with a rate are not scaled down: flow rates are recomputed for the channels and
        // rates.
        let mut given = self.mesh;
        given.channels = fcra::Channels::Given(first.channels);
        for (link, rate_bps) in given.links.iter_mut().zip(first.rates_bps) {
            link.top_rate_bps = Some(rate_bps);
        }
        let flows = fcra::throughput(&given, &self.demands, hops)?;
        fcra::assign(&given, &flows, false)
    }
}

impl Asked<'_> {
    /// Whether the file has the complete result already.
    fn is_done(&self) -> bool {
        self.config.scale.is_some()
    }

    fn is_to_find_channels(&self) -> bool {
        self.config.channels == fcra::ChannelSource::Fcra && !self.is_done()
    }

    /// Refuses contradictory or incomplete settings.
    fn is_clear(&self, wifi_channels: Option<Span>, problems: &mut Problems) -> bool {
        let before = problems.error_count();
        let place = |key| self.table.place(key, self.span);
        if self.links.is_empty() {
            let message = "no link leads over 802.11, so there is nothing to assign";
            let label = "give links medium = \"wifi\", or remove it";
            problems.error(Code::NoRadio, self.span, message, label);
        } else if self.links.len() > MOST_LINKS {
            let message = format!("{} links are to be assigned", self.links.len());
            let label = format!("at most {MOST_LINKS} are possible");
            problems.error(Code::BadAssignment, self.span, message, label);
        }
        if self.is_to_find_channels() && self.available().is_empty() {
            let message = "assignment available is an empty list";
            let label = "write the channels that may be used, such as [36, 40, 44]";
            problems.error(Code::Empty, place("available"), message, label);
        }
        if self.wifi.values.text("neighbours") == Some("in-range") {
            let message = "an assignment is for links that are listed, not for all in range";
            let label = "write neighbours = \"listed\" in [wifi]";
            problems.error(Code::BadAssignment, self.span, message, label);
        }
        let mut rates_bps = self
            .links
            .iter()
            .map(|index| self.rate_bps(&self.scenario.links[*index]));
        if self.is_sinr()
            && let Some(unknown) = rates_bps.find(|bps| threshold_db(*bps).is_none())
        {
            let message = format!(
                "which ratio of signal to interference {} of {} needs is not known",
                Rate::from_bps(unknown),
                self.wifi.values.text("standard").unwrap_or_default()
            );
            let label = "write model = \"hops\" or \"all\", or give links a rate of OFDM";
            problems.error(Code::BadAssignment, place("interference"), message, label);
        }
        if self.is_to_find_channels() {
            let label = "remove them, or write channels = \"given\" in [assignment]";
            if let Some(span) = wifi_channels {
                let message = "FCRA is to find the channels, and [wifi] gives some";
                problems.error(Code::BadAssignment, span, message, label);
            }
            let nodes = &self.network.nodes;
            if let Some(node) = nodes.iter().find(|node| node.channels.is_some()) {
                let message = format!("FCRA is to find the channels, and \"{}\" has some", node.id);
                problems.error(Code::BadAssignment, node.span, message, label);
            }
            for &index in &self.links {
                let (link, span) = &self.network.links[index];
                if link
                    .radio()
                    .is_some_and(|radio| radio.channel.is_some() || radio.is_left_out)
                {
                    let message = format!(
                        "FCRA is to find the channels, and link {} has one",
                        self.name_of_link(index)
                    );
                    let label = "remove it, or write channels = \"given\" in [assignment]";
                    problems.error(Code::BadAssignment, *span, message, label);
                    break;
                }
            }
        }
        problems.error_count() == before
    }

    fn is_sinr(&self) -> bool {
        let model = self.config.interference;
        matches!(model, fcra::InterferenceModel::Sinr { .. })
    }

    fn name_of_link(&self, index: usize) -> String {
        let link = &self.scenario.links[index];
        format!("{}-{}", self.id(link.a), self.id(link.b))
    }

    fn id(&self, node: usize) -> &str {
        &self.scenario.nodes[node].id
    }

    /// The computed assignment, or the one that the file has already.
    fn find(&self, problems: &mut Problems) -> Option<Found> {
        let mesh = self.mesh();
        if self.is_done() {
            return self.found_before(&mesh, problems);
        }
        let demands = Demands::read(self, problems)?;
        let search = Search {
            mesh: mesh.clone(),
            demands: demands.list.clone(),
            is_required: demands.required.is_some(),
            rule: self.rule(problems)?,
            extra_hops: self.config.extra_hops,
            adjusts: self.config.rates == fcra::RateRule::Adjusted,
        };
        let assigned = match aside(problems, move || search.answer())? {
            Ok(assigned) => assigned,
            Err(error) => {
                self.tell(&error, &mesh, &demands, problems);
                return None;
            }
        };
        let whole = |bps: f64| bps.round() as u64;
        let flow_rates_bps: Vec<_> = assigned
            .flow_rates
            .0
            .iter()
            .map(|ab| ab.map(whole))
            .collect();
        let is_new = |channels: Vec<Option<u8>>| self.is_to_find_channels().then_some(channels);
        Some(Found {
            utilisation: utilisation(
                &mesh,
                &assigned.channels,
                &assigned.rates_bps,
                &flow_rates_bps,
            ),
            channels: is_new(assigned.channels),
            rates_bps: assigned.rates_bps,
            flow_rates_bps,
            scale: assigned.scale,
        })
    }

    /// The assignment in the nodes and links of a resolved scenario.
    fn found_before(&self, mesh: &fcra::Mesh, problems: &mut Problems) -> Option<Found> {
        let flow_rates_bps = self.given_flow_rates(problems)?;
        let links = || self.links.iter().map(|link| &self.scenario.links[*link]);
        let channel = |link| wifi::channel(link, &self.scenario.nodes);
        let channels: Vec<Option<u8>> = links().map(channel).collect();
        let rates_bps: Vec<u64> = links().map(|link| self.rate_bps(link)).collect();
        Some(Found {
            utilisation: utilisation(mesh, &channels, &rates_bps, &flow_rates_bps),
            channels: None,
            rates_bps,
            flow_rates_bps,
            scale: self.config.scale?,
        })
    }

    /// The flow rates that the links say themselves.
    fn given_flow_rates(&self, problems: &mut Problems) -> Option<Vec<[u64; 2]>> {
        let mut rates_bps = Vec::new();
        for &index in &self.links {
            let (link, span) = &self.network.links[index];
            if link.radio().is_some_and(|radio| radio.is_left_out) {
                rates_bps.push([0, 0]);
                continue;
            }
            let Some(rates) = link.flow_rates_bps else {
                let message = format!("link {} has no flow rate", self.name_of_link(index));
                let label = "add `flow_rate = …`, \"none\" if it is not to be used";
                problems.error(Code::FlowRate, *span, message, label);
                return None;
            };
            rates_bps.push(rates);
        }
        Some(rates_bps)
    }

    /// The method for the flow rates of links; `None` if the file has none.
    fn rule(&self, problems: &mut Problems) -> Option<Rule> {
        Some(match self.config.flow_rates {
            fcra::FlowRateSource::Given => {
                let given = self.given_flow_rates(problems)?;
                let rates = given.into_iter().map(|ab| ab.map(|bps| bps as f64));
                Rule::Given(rates.collect())
            }
            fcra::FlowRateSource::Equal => Rule::Equal,
            fcra::FlowRateSource::Paths => Rule::Paths,
            fcra::FlowRateSource::Throughput => Rule::Throughput,
        })
    }

    fn rate_bps(&self, link: &Link) -> u64 {
        let own = link.radio().and_then(|radio| radio.rate);
        own.unwrap_or(self.wifi.rates.data).as_bps()
    }

    /// The links over radios as a mesh of all nodes.
    fn mesh(&self) -> fcra::Mesh {
        let radios = self.config.radios;
        let finds = self.is_to_find_channels();
        let nodes = (self.scenario.nodes.iter())
            .zip(&self.network.nodes)
            .map(|(node, placed)| {
                let radios = match node.kind {
                    NodeKind::Epc | NodeKind::Server => 0,
                    _ if finds => placed.radios.unwrap_or(radios),
                    _ => (placed.radios)
                        .unwrap_or_else(|| u8::try_from(node.channels.len()).unwrap_or(u8::MAX)),
                };
                fcra::Node {
                    radios,
                    position_m: node.position_m,
                }
            });
        let links = self.links.iter().map(|link| &self.scenario.links[*link]);
        let channels = if finds {
            fcra::Channels::Available(self.available())
        } else {
            let channel = |link| wifi::channel(link, &self.scenario.nodes);
            fcra::Channels::Given(links.clone().map(channel).collect())
        };
        let mut rates_bps: Vec<u64> = links.clone().map(|link| self.rate_bps(link)).collect();
        if self.config.rates == fcra::RateRule::Adjusted {
            let is_sinr = self.is_sinr();
            let all = self.wifi.rates.all.iter().map(|rate| rate.as_bps());
            rates_bps.extend(all.filter(|bps| !is_sinr || threshold_db(*bps).is_some()));
        }
        rates_bps.sort_unstable_by_key(|bps| Reverse(*bps));
        rates_bps.dedup();
        fcra::Mesh {
            nodes: nodes.collect(),
            links: links
                .map(|link| fcra::Link {
                    a: link.a,
                    b: link.b,
                    top_rate_bps: Some(self.rate_bps(link)),
                })
                .collect(),
            channels,
            interference: self.interference(&rates_bps),
            rates_bps,
        }
    }

    fn interference(&self, rates_bps: &[u64]) -> fcra::Interference {
        match self.config.interference {
            fcra::InterferenceModel::All => fcra::Interference::All,
            fcra::InterferenceModel::Sinr { exponent } => fcra::Interference::Sinr {
                exponent,
                // The links of the file exist at any length.
                snr_at_1_m_db: f64::INFINITY,
                thresholds_db: rates_bps
                    .iter()
                    .filter_map(|bps| threshold_db(*bps))
                    .collect(),
            },
            fcra::InterferenceModel::Hops { hops } => fcra::Interference::Hops { hops },
        }
    }

    /// The channels that may be used, each once.
    fn available(&self) -> Vec<u8> {
        let mut channels = Vec::new();
        for &channel in &self.config.available {
            if !channels.contains(&channel) {
                channels.push(channel);
            }
        }
        channels
    }

    /// An error of the assignment at the place that it is about.
    fn tell(
        &self,
        error: &fcra::Error,
        mesh: &fcra::Mesh,
        demands: &Demands,
        problems: &mut Problems,
    ) {
        use fcra::Error;
        let place = |key| self.table.place(key, self.span);
        let node = |node: &usize| self.network.nodes[*node].span;
        let (code, span) = match error {
            Error::NoRadio { node: index } => (Code::NoRadio, node(index)),
            Error::MoreRadiosThanChannels { .. } => (Code::TooManyRadios, place("available")),
            Error::TooManyChannels { node: index, .. } => (Code::TooManyRadios, node(index)),
            Error::Unconnected { .. } => (Code::Unconnected, place("channels")),
            Error::NoPath { demand, .. } | Error::TooManyPaths { demand, .. } => {
                (Code::BadDemand, demands.places[*demand])
            }
            Error::Infeasible(_) => (Code::Infeasible, demands.required.unwrap_or(self.span)),
            _ => (Code::BadAssignment, self.span),
        };
        let (message, label) = error.describe(mesh, |node| self.id(node).to_owned());
        problems.error(code, span, message, label);
    }
}

/// The utilisation of each link's collision domain.
fn utilisation(
    mesh: &fcra::Mesh,
    channels: &[Option<u8>],
    rates_bps: &[u64],
    flow_rates_bps: &[[u64; 2]],
) -> Vec<f64> {
    let flows = flow_rates_bps.iter().map(|ab| ab.map(|bps| bps as f64));
    fcra::utilisation(mesh, channels, rates_bps, &fcra::FlowRates(flows.collect()))
}
