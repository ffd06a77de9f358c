//! From a configuration to a network: received powers between radios, and links.

use backlane_engine::{EventQueue, Interrupt, Streams, Watch};
use backlane_net::{Event, LinkId, MediumId, Network, QueueConfig, QueueLimit, QueuePlace};
use backlane_radio::level::ratio;
use backlane_radio::path_loss::Sight;
use backlane_radio::{FrameFading, PathLoss, Position};
use backlane_units::{Duration, SimTime};

use crate::bystanders;
use crate::config::{StationConfig, WifiConfig, WifiLinkConfig};
use crate::counters::LinkCounters;
use crate::deadlines::Deadlines;
use crate::error::WifiError;
use crate::frame::{Frame, NONE};
use crate::mac_params::{MacParams, ReceptionModel};
use crate::medium::{Hearer, Wifi};
use crate::queues::Queues;
use crate::radio::{Direction, Draws, Radio};

/// A frame below this share of the CCA threshold or the noise is ignored.
const NEGLIGIBLE: f64 = 0.1;
/// The same share of its mean power under fading: with Rayleigh, one frame in 20 000 has ten times
/// the mean.
const NEGLIGIBLE_FADING: f64 = 0.01;

impl Wifi {
    /// A network of these stations and links, with such a queue before each radio.
    ///
    /// # Errors
    /// If the configuration cannot be, or `watch` says so, see [`WifiError`].
    pub fn new(
        config: &WifiConfig,
        queue: &QueueConfig,
        stations: &[StationConfig],
        links: &[WifiLinkConfig],
        streams: &Streams,
        watch: &mut Watch<'_>,
    ) -> Result<Self, WifiError> {
        let params = MacParams::new(config)?;
        if let FrameFading::Nakagami { m } = config.fading
            && (m.is_nan() || m < 0.5)
        {
            return Err(WifiError::NakagamiShape(m));
        }
        if matches!(queue.limit(), QueueLimit::BandwidthDelayProduct(_)) {
            return Err(WifiError::QueueByDelay);
        }
        let mut radios = Vec::new();
        let mut owners = Vec::new();
        let mut first_radio = Vec::new();
        for (index, station) in stations.iter().enumerate() {
            let node = station.node.index();
            if node >= first_radio.len() {
                first_radio.resize(node + 1, NONE);
            }
            first_radio[node] = radios.len() as u32;
            for (number, &channel) in station.channels.iter().enumerate() {
                if station.channels[..number].contains(&channel) {
                    let station = station.name.clone();
                    return Err(WifiError::ChannelTwice { station, channel });
                }
                let stream =
                    |purpose| streams.stream(&format!("{}/{channel}", station.name), purpose);
                let draws = Draws {
                    backoff: stream("backoff"),
                    errors: stream("frame errors"),
                    fading: stream("frame fading"),
                };
                let place = QueuePlace::Radio(station.node, number as u8);
                let queue = || queue.build(config.data_rate(), Duration::ZERO, place);
                let queues = Queues::new(config.routing_first.then(queue), queue());
                radios.push(Radio::new(
                    station.node,
                    number as u8,
                    queues,
                    draws,
                    &params,
                ));
                owners.push((index, channel));
            }
        }
        let directions = directions(&params, stations, links, streams, &first_radio)?;
        let audible = audible(config, &params, stations, &owners, &directions, watch)?;
        let (domains, memberships) =
            bystanders::domains(&params, &mut radios, &audible, &directions);
        let faded_mw = match params.fading {
            FrameFading::None => Vec::new(),
            _ => audible
                .iter()
                .map(|hearers| vec![0.0; hearers.len()])
                .collect(),
        };
        Ok(Self {
            deadlines: Deadlines::new(radios.len()),
            domains,
            memberships,
            params,
            frames: vec![Frame::NOTHING; radios.len()],
            radios,
            audible,
            faded_mw,
            links: directions,
            first_radio,
            first_link: 0,
            timer: None,
            armed: SimTime::MAX,
            held: 0,
            dropped: Vec::new(),
            link_of_packet: Vec::new(),
        })
    }

    /// Joins the routers of a network by the links of this one, in their order, over the medium
    /// of this number.
    #[must_use]
    pub fn connect(
        mut self,
        network: &mut Network,
        events: &mut EventQueue<Event>,
        medium: MediumId,
    ) -> Self {
        for index in (0..self.links.len()).step_by(2) {
            let [a, b] = [self.links[index].from, self.links[index].to]
                .map(|radio| &self.radios[radio as usize]);
            let rate = self.links[index].mode.rate();
            let (there, back) =
                network.connect_over(events, medium, (a.node, a.number), (b.node, b.number), rate);
            if index == 0 {
                self.first_link = there.0;
            }
            self.links[index].id = there;
            self.links[index + 1].id = back;
        }
        self
    }
}

/// Both directions of each link, one after the other.
fn directions(
    params: &MacParams,
    stations: &[StationConfig],
    links: &[WifiLinkConfig],
    streams: &Streams,
    first_radio: &[u32],
) -> Result<Vec<Direction>, WifiError> {
    let radio = |station: usize, channel: u8| -> Result<u32, WifiError> {
        let config = &stations[station];
        let number = config.channels.iter().position(|own| *own == channel);
        let Some(number) = number else {
            let station = config.name.clone();
            return Err(WifiError::NoRadio { station, channel });
        };
        Ok(first_radio[config.node.index()] + number as u32)
    };
    let mut directions = Vec::with_capacity(2 * links.len());
    for link in links {
        let (a, b) = (link.a, link.b);
        if a == b || a.max(b) >= stations.len() {
            return Err(WifiError::Ends { a, b });
        }
        if let Some(loss) = link.loss
            && !(0.0..=1.0).contains(&loss)
        {
            return Err(WifiError::Loss(loss));
        }
        let mode = match link.rate {
            Some(rate) => params.mode(rate)?,
            None => params.data_mode,
        };
        let ends = [radio(a, link.channel)?, radio(b, link.channel)?];
        for (from, to, [near, far]) in [(a, b, ends), (b, a, [ends[1], ends[0]])] {
            let entity = format!(
                "{}-{}/{}",
                stations[from].name, stations[to].name, link.channel
            );
            directions.push(Direction {
                id: LinkId::NONE,
                from: near,
                to: far,
                mode,
                up: true,
                loss: link
                    .loss
                    .map(|loss| (loss, streams.stream(&entity, "frame loss"))),
                counters: LinkCounters::default(),
            });
        }
    }
    Ok(directions)
}

/// By radio: the radios in its range.
fn audible(
    config: &WifiConfig,
    params: &MacParams,
    stations: &[StationConfig],
    owners: &[(usize, u8)],
    directions: &[Direction],
    watch: &mut Watch<'_>,
) -> Result<Vec<Vec<Hearer>>, Interrupt> {
    let floor_mw = floor_mw(params);
    // A frame over a link of given loss has at least the power at which it can be decoded.
    let least_mw = params.reception.sensitivity_mw();
    let mut links_from: Vec<Vec<(u32, u32)>> = vec![Vec::new(); owners.len()];
    for (link, direction) in directions.iter().enumerate() {
        links_from[direction.from as usize].push((direction.to, link as u32));
    }
    let law = config.propagation();
    let mut audible = Vec::with_capacity(owners.len());
    for (from, &(sender, channel)) in owners.iter().enumerate() {
        watch.tick(1 + owners.len() as u64 / 64)?;
        let mut hearers = Vec::new();
        for (to, &(station, other)) in owners.iter().enumerate() {
            if other != channel || station == sender {
                continue;
            }
            watch.tick(1)?;
            let mut links = links_from[from].iter();
            let link = links.find(|(far, _)| *far as usize == to);
            let link = link.map_or(NONE, |&(_, link)| link);
            let given = directions
                .get(link as usize)
                .is_some_and(|direction| direction.loss.is_some());
            let [a, b] = [sender, station].map(|station| stations[station].position);
            let mut power_mw = mean_mw(config, &law, a, b);
            if given {
                power_mw = power_mw.max(least_mw);
            }
            if power_mw >= floor_mw {
                hearers.push(Hearer {
                    radio: to as u32,
                    link,
                    mean_mw: power_mw,
                    given,
                });
            }
        }
        audible.push(hearers);
    }
    Ok(audible)
}

/// Frames below this power are ignored.
fn floor_mw(params: &MacParams) -> f64 {
    let counts = match params.reception {
        ReceptionModel::Pairwise { .. } | ReceptionModel::Threshold { capture: None, .. } => 1.0,
        _ => NEGLIGIBLE,
    };
    let least = match params.reception {
        ReceptionModel::ErrorRate { noise_mw, .. } => noise_mw.min(params.carrier_sense_mw),
        _ => params.carrier_sense_mw,
    };
    match params.fading {
        FrameFading::None => least * counts,
        _ => least * counts.min(NEGLIGIBLE) * NEGLIGIBLE_FADING / NEGLIGIBLE,
    }
}

/// The mean received power at `b` of a frame sent at `a`, in milliwatts.
fn mean_mw(config: &WifiConfig, law: &PathLoss, a: Position, b: Position) -> f64 {
    let gains_db = 2.0 * config.antenna_gain.as_db_f64();
    let loss_db = law.loss_db(a, b, Sight::Clear);
    ratio(config.power.as_dbm_f64() + gains_db - loss_db)
}

/// The pairs of stations with a radio on this channel that decode a data frame of 1000 bytes from
/// each other with a probability of at least 1 %, both ways, if nothing else is on the air: what
/// counts as neighbours where no links are listed. Pairs are in the order of the stations.
///
/// # Errors
/// If the configuration cannot be, or `watch` says so, see [`WifiError`].
pub fn links_in_range(
    config: &WifiConfig,
    stations: &[StationConfig],
    channel: u8,
    watch: &mut Watch<'_>,
) -> Result<Vec<(usize, usize)>, WifiError> {
    let params = MacParams::new(config)?;
    let gains = gains(config.fading);
    let law = config.propagation();
    let mut pairs = Vec::new();
    for (a, first) in stations.iter().enumerate() {
        watch.tick(1 + stations.len() as u64 / 64)?;
        for (b, second) in stations.iter().enumerate().skip(a + 1) {
            if [first, second]
                .iter()
                .any(|station| !station.channels.contains(&channel))
            {
                continue;
            }
            // Fading is looked at in as many shares as it has gains.
            watch.tick(1 + gains.len() as u64 / 20)?;
            let (there, back) = (
                mean_mw(config, &law, first.position, second.position),
                mean_mw(config, &law, second.position, first.position),
            );
            if decoded_share(&params, &gains, there.min(back)) >= 0.01 {
                pairs.push((a, b));
            }
        }
    }
    Ok(pairs)
}

/// The gains of fading, each standing for an equal share of all, in ascending order.
fn gains(fading: FrameFading) -> Vec<f64> {
    const DRAWS: usize = 10_000;
    const SHARES: usize = 500;
    if fading == FrameFading::None {
        return vec![1.0];
    }
    // The same sample for all pairs and seeds: the set of links is not random.
    let mut stream = Streams::new(0).stream("links in range", "gain");
    let mut draws: Vec<f64> = (0..DRAWS).map(|_| fading.gain(&mut stream)).collect();
    draws.sort_by(f64::total_cmp);
    let step = DRAWS / SHARES;
    draws.into_iter().skip(step / 2).step_by(step).collect()
}

/// The probability that a data frame of 1000 bytes is decoded at this mean power.
fn decoded_share(params: &MacParams, gains: &[f64], mean_mw: f64) -> f64 {
    const BITS: f64 = 8000.0;
    let strong_enough = params.reception.sensitivity_mw() / mean_mw;
    let first = gains.partition_point(|&gain| gain < strong_enough);
    let decoded: f64 = match &params.reception {
        ReceptionModel::ErrorRate {
            noise_mw, rates, ..
        } => gains[first..]
            .iter()
            .map(|gain| rates.success(params.data_mode, mean_mw * gain / noise_mw, BITS))
            .sum(),
        _ => (gains.len() - first) as f64,
    };
    decoded / gains.len() as f64
}
