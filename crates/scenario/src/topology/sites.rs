//! Sites placed by a CSV file, and links between placed sites.

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::{Length, Rate};

use super::network::{Network, Placed, too_many};
use super::positions::Positions;
use super::rules::{self, Extra, Links};
use super::template::{Template, check_wire, template};
use crate::codes::Code;
use crate::csv::{Csv, Row};
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{Link, NodeKind};
use crate::problems::Problems;
use crate::shown;
use crate::spec::nearest;
use crate::spec::tables::MOST_NODES;
use crate::tree::Table;
use crate::values::is_id;

/// The farthest coordinate in metres: 100 000 km.
const FARTHEST_M: f64 = 1e8;

/// Sites, each with the place that names it.
pub(super) struct Sites {
    pub(super) names: Vec<(String, Span)>,
    pub(super) positions: Positions,
}

/// Reads the sites. Every problem of the file is reported, and the result is then `None`, so that
/// an omitted site causes no further problems.
fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Sites> {
    let before = problems.error_count();
    let csv = Csv::read(text, source, problems);
    let id = csv.column("id", problems)?;
    let geographic = csv.find("latitude_deg").is_some() || csv.find("x_m").is_none();
    let (first, second) = if geographic {
        ("latitude_deg", "longitude_deg")
    } else {
        ("x_m", "y_m")
    };
    let columns = (csv.column(first, problems), csv.column(second, problems));
    let (Some(first_column), Some(second_column)) = columns else {
        return None;
    };
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    let mut positions = Vec::new();
    for row in &csv.rows {
        if !problems.go_on() {
            break;
        }
        let (name, span) = row.text(id);
        if !is_id(&name) {
            let message = "the id cannot be a name";
            problems.error(
                Code::BadName,
                span,
                message,
                "use 1 to 64 letters, digits, '-', '_' and '.'",
            );
        } else if !seen.insert(name.clone()) {
            let message = format!("there are two sites \"{name}\"");
            problems.error(
                Code::CsvDuplicate,
                span,
                message,
                "give one of them another id",
            );
            continue;
        }
        let bounds = if geographic {
            (90.0, 180.0)
        } else {
            (FARTHEST_M, FARTHEST_M)
        };
        let position = (
            row.number(first_column, first, bounds.0, problems),
            row.number(second_column, second, bounds.1, problems),
        );
        if let (Some(a), Some(b)) = position {
            names.push((name.into_owned(), span));
            positions.push((a, b));
        }
    }
    if csv.rows.is_empty() {
        problems.error(
            Code::CsvEmpty,
            csv.header_span(),
            "the file has no sites",
            "add a row for each site",
        );
        return None;
    }
    let positions = if geographic {
        Positions::Geographic(positions)
    } else {
        Positions::Plane(positions)
    };
    (problems.error_count() == before).then_some(Sites { names, positions })
}

/// The number of sites in a file.
pub(crate) fn count(source: usize, text: &str, problems: &mut Problems) -> usize {
    read(source, text, problems).map_or(0, |sites| sites.names.len())
}

/// A recorded link: its ends, and what the file says of it.
struct Recorded {
    ends: (usize, usize),
    length_m: Option<f64>,
    rate: Option<Rate>,
}

/// The fastest rate of a recorded link: that of the key `rate` of links.
const FASTEST_MBPS: f64 = 1e6;

/// The rate of a row, if it has one.
fn recorded_rate(row: &Row, column: usize, problems: &mut Problems) -> Option<Rate> {
    if row.text(column).0.is_empty() {
        return None;
    }
    let rate_mbps = row.number(column, "rate_mbps", FASTEST_MBPS, problems)?;
    let bps = (rate_mbps * 1e6).round();
    if bps < 1.0 {
        let (text, span) = row.text(column);
        let message = format!("rate_mbps is {text}");
        let label = "write a rate above 0, or leave the field empty for that of [topology] link";
        problems.error(Code::CsvRange, span, message, label);
        return None;
    }
    Some(Rate::from_bps(bps as u64))
}

/// Recorded links.
fn recorded(
    source: usize,
    text: &str,
    sites: &Sites,
    problems: &mut Problems,
) -> Option<Vec<Recorded>> {
    let csv = Csv::read(text, source, problems);
    let (a, b) = (
        csv.column("site_a", problems),
        csv.column("site_b", problems),
    );
    let (a, b) = (a?, b?);
    let (length, rate) = (csv.find("length_km"), csv.find("rate_mbps"));
    let index: BTreeMap<&str, usize> = sites
        .names
        .iter()
        .enumerate()
        .map(|(index, (name, _))| (name.as_str(), index))
        .collect();
    let mut links = Vec::new();
    for row in &csv.rows {
        if !problems.go_on() {
            break;
        }
        let mut end = |column: usize| {
            let (name, span) = row.text(column);
            let found = index.get(&*name).copied();
            if found.is_none() {
                let name = shown::short(&name);
                let label = nearest(&name, index.keys().copied()).map_or_else(
                    || "add it to the sites".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                problems.error(
                    Code::CsvSite,
                    span,
                    format!("there is no site \"{name}\""),
                    label,
                );
            }
            found
        };
        let ends = (end(a), end(b));
        let length_m = match length {
            Some(column) if !row.text(column).0.is_empty() => {
                let length_m = row
                    .number(column, "length_km", FARTHEST_M / 1e3, problems)
                    .map(|km| km * 1e3);
                if length_m.is_some_and(|length_m| length_m < 0.0) {
                    let (text, span) = row.text(column);
                    let message = format!("length_km is {text}");
                    let label = "write a length of 0 or more, or leave the field empty";
                    problems.error(Code::CsvRange, span, message, label);
                }
                // Minus zero is zero.
                length_m.map(f64::abs)
            }
            _ => None,
        };
        let rate = rate.and_then(|column| recorded_rate(row, column, problems));
        if let (Some(a), Some(b)) = ends {
            if a == b {
                problems.error(
                    Code::SelfLink,
                    row.text(0).1,
                    "the link joins a site to itself",
                    "name two sites",
                );
            } else {
                links.push(Recorded {
                    ends: (a.min(b), a.max(b)),
                    length_m,
                    rate,
                });
            }
        }
    }
    Some(links)
}

/// Builds the network of sites that a file places.
pub(super) fn build(table: &Table, files: &mut Files, problems: &mut Problems) -> Option<Network> {
    let span = table.place("file", Span::default());
    let (source, text) = files.text(table.text("file")?, span, problems)?;
    let sites = read(source, &text, problems)?;
    joined(&sites, table, span, files, problems)
}

/// The template of the links; it may only be left out where there are none.
fn link_template(table: &Table, rule: &Table, problems: &mut Problems) -> Template {
    if table.get("link").is_none() && rule.text("rule") != Some("none") {
        let place = table.place("links", Span::default());
        let message = "topology link is missing";
        problems.error(Code::MissingKey, place, message, "add `link = …`: a table");
    }
    template(table)
}

/// Links, and what is recorded of them.
#[derive(Default)]
struct Measured {
    links: Links,
    /// In metres, where it is not the distance of the ends.
    lengths: BTreeMap<(usize, usize), f64>,
    /// Where it is not that of the template.
    rates: BTreeMap<(usize, usize), Rate>,
}

/// The links of a file.
fn recorded_links(
    rule: &Table,
    sites: &Sites,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Measured> {
    let span = rule.place("file", Span::default());
    let (source, text) = files.text(rule.text("file")?, span, problems)?;
    let mut measured = Measured::default();
    for link in recorded(source, &text, sites, problems)? {
        measured
            .lengths
            .extend(link.length_m.map(|length_m| (link.ends, length_m)));
        measured
            .rates
            .extend(link.rate.map(|rate| (link.ends, rate)));
        measured.links.push(link.ends);
    }
    Some(measured)
}

/// The links that a rule gives.
fn links(
    rule: &Table,
    sites: &Sites,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Measured> {
    let positions = &sites.positions;
    let by_rule = match rule.text("rule")? {
        "k-nearest" => rules::k_nearest(positions, rule.integer("k")?, problems),
        "gabriel" => rules::gabriel(positions, problems),
        "none" => Links::new(),
        "mst" => {
            let cap = rule.integer("degree_cap")?;
            let mut links = rules::capped_mst(positions, cap, problems);
            let extra = Extra {
                degree: rule.integer("extra_degree")?,
                longest_m: rule.quantity("extra_length").map(Length::as_m_f64),
                ..Extra::default()
            };
            rules::add_extra(&mut links, positions, &extra, problems);
            links
        }
        _ => return recorded_links(rule, sites, files, problems),
    };
    Some(Measured {
        links: by_rule,
        ..Measured::default()
    })
}

/// Joins the pieces of a network, with a warning.
fn connect(links: &mut Links, positions: &Positions, span: Span, problems: &mut Problems) {
    let added = rules::connect(links, positions, problems);
    if added.is_empty() {
        return;
    }
    let message = match added.len() {
        1 => "a link was added to join the pieces of the network".to_owned(),
        count => format!("{count} links were added to join the pieces of the network"),
    };
    let label = "write connect = false to refuse such a network";
    problems.warning(Code::Joined, span, message, label);
}

/// The network of some sites, joined by the rule of a section that names or draws them at `span`.
pub(super) fn joined(
    sites: &Sites,
    table: &Table,
    span: Span,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Network> {
    let count = sites.names.len();
    if count > MOST_NODES as usize {
        too_many(span, count as u64, problems);
        return None;
    }
    let rule = table.table("links")?;
    let rule_span = table.place("links", span);
    let template = link_template(table, rule, problems);
    let positions = &sites.positions;
    let Measured {
        mut links,
        lengths,
        rates,
    } = links(rule, sites, files, problems)?;
    if rule.text("rule")? != "none" && rule.boolean("connect")? {
        connect(&mut links, positions, rule_span, problems);
    }
    if links.len() > MOST_NODES as usize {
        too_many(rule_span, links.len() as u64, problems);
        return None;
    }
    let mut network = Network::default();
    for (site, ((id, span), (x, y))) in sites.names.iter().zip(positions.plane()).enumerate() {
        let position = Some((Length::from_m_f64(x), Length::from_m_f64(y)));
        network.nodes.push(Placed {
            id: id.clone(),
            kind: NodeKind::Enodeb,
            position,
            geographic_deg: positions.degrees(site),
            channels: None,
            radios: None,
            span: *span,
        });
    }
    let mut shortest: Option<Link> = None;
    let delay = |link: &Link| link.wire().map(|wire| wire.delay);
    for (a, b) in links {
        if !problems.go_on() {
            return None;
        }
        let length_m = lengths.get(&(a, b)).copied();
        let length_m = length_m.unwrap_or_else(|| positions.distance_m(a, b));
        let link = template.link(a, b, Some(length_m), rates.get(&(a, b)).copied());
        if shortest
            .as_ref()
            .is_none_or(|shortest| delay(&link) < delay(shortest))
        {
            shortest = Some(link.clone());
        }
        network.links.push((link, template.span));
    }
    if let Some(link) = shortest {
        check_wire(&link, &template, problems);
    }
    Some(network)
}
