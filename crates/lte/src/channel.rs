//! How well a UE and a cell hear each other, in each resource block and TTI.
//!
//! A SINR is signal over noise and interference of one resource block, linear, with the
//! implementation loss taken off. It is given as one value where all blocks have the same, as one
//! value for each resource block where the channel fades, and as one value for each group of
//! them where interference alone differs. Everything is a function of time and of who transmits,
//! not of earlier queries, so a value that is not needed is not computed.
//!
//! Path loss and shadowing follow a moving UE in steps: every 10 ms towards the serving cell,
//! every 100 ms towards the others (at 200 km/h these are 0.6 m and 5.6 m). Fading is that of the
//! serving link; what comes from other cells does not fade. The layers of a UE share its power
//! and do not disturb each other.

use std::sync::Arc;

use backlane_engine::Streams;
use backlane_radio::fading::{group_offsets_hz, inter_carrier_interference};
use backlane_radio::level::{doppler_hz, ratio, thermal_noise_dbm, wavelength_m};
use backlane_radio::{Fading, FrequencyResponse, LargeScaleLoss, Mobility, Position};
use backlane_units::{Decibels, Frequency, SimTime, Speed};

use crate::config::{CellConfig, Interference, RanConfig, UeChannel, UeConfig};
use crate::fading_trace::{FadingTrace, Windows};
use crate::mac::scheduler::MAX_GROUPS;
use crate::phy::tables::{MOST_CARRIER_BLOCKS, rbg_count, rbg_size};
use crate::sinr_of_cqi::SinrOfCqi;
use crate::time::start_of;

/// Width of a resource block (TS 36.211 §6.2.3).
const RESOURCE_BLOCK_HZ: f64 = 180e3;
/// Distance of subcarriers (TS 36.211 §6.12).
const SUBCARRIER_HZ: f64 = 15e3;
/// TTIs between two looks at the loss towards the serving cell, if the UE moves.
const SERVING_STEP_TTIS: u64 = 10;
/// The same towards other cells.
const OTHERS_STEP_TTIS: u64 = 100;

/// What stands for a signal that is not there: 100 dB below the noise.
const NOTHING: f32 = 1e-10;

/// Room for a value of each resource block.
const ROOM: usize = MOST_CARRIER_BLOCKS.next_multiple_of(4);

/// Vectors of four groups.
const GROUP_QUADS: usize = MAX_GROUPS.div_ceil(4);

/// Four bits as four factors, the lowest first.
const SWITCHES: [[f32; 4]; 16] = {
    let mut switches = [[0.0; 4]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut lane = 0;
        while lane < 4 {
            switches[bits][lane] = (bits >> lane & 1) as f32;
            lane += 1;
        }
        bits += 1;
    }
    switches
};

/// The radio side of all cells and UEs.
pub(crate) struct Channel {
    interference: Interference,
    layers: f32,
    /// What is left of a SINR by the implementation loss.
    kept: f32,
    carriers: Vec<Carrier>,
    cells: Vec<Site>,
    users: Vec<User>,
    sinr_of_cqi: Option<SinrOfCqi>,
    /// Speed of all fading, in metres per second; `None` is that of each UE.
    fading_m_per_s: Option<f64>,
    activity: Activity,
    streams: Streams,
    /// One for each resource block, or for each group.
    values: [f32; ROOM],
}

struct Carrier {
    groups: usize,
    /// Resource blocks of a group, but for the last.
    group_size: usize,
    /// Resource blocks.
    blocks: usize,
    all_groups: u32,
    downlink: Frequency,
    uplink: Frequency,
    /// SNR of a downlink resource block without loss.
    snr: f32,
    /// Transmit power of one resource element.
    element_dbm: f64,
    response: Option<Arc<FrequencyResponse>>,
}

struct Site {
    position: Position,
    name: String,
    /// For each carrier.
    losses: Vec<LargeScaleLoss>,
}

struct User {
    name: String,
    heard: UeChannel,
    mobility: Mobility,
    moves: bool,
    /// For each cell, when the user was where `gains` holds: in steps, `u64::MAX` for never.
    steps: Vec<u64>,
    /// Share of the power that arrives, for each carrier and cell.
    gains: Vec<f32>,
    /// The step and the serving cell for which the gains of all others are brought up to date.
    others: (u64, usize),
    fading_cell: usize,
    /// Downlink of each carrier, and the uplink of the primary one.
    fading: Vec<LinkFading>,
    fading_trace: Option<Arc<FadingTrace>>,
    /// SNR of a milliwatt in one resource block at the eNodeB without loss.
    uplink_snr: f32,
}

/// Where the gains of a link come from.
enum LinkFading {
    Waves(Fading),
    Trace(Arc<FadingTrace>, Windows),
}

/// Who transmitted in the last TTIs.
struct Activity {
    slots: Vec<Slot>,
    cells: usize,
    full: bool,
}

struct Slot {
    tti: u64,
    /// For each carrier, whether any cell transmits.
    somebody: Vec<bool>,
    /// For each carrier and cell, 1 if it uses all groups and 0 otherwise.
    everywhere: Vec<f32>,
    /// For each carrier, the cells that use some groups, and which.
    somewhere: Vec<Vec<(u32, u32)>>,
    uplink: Vec<UplinkUse>,
}

/// An uplink transmission, as other cells hear it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UplinkUse {
    pub(crate) cell: usize,
    pub(crate) ue: usize,
    pub(crate) first_prb: u16,
    pub(crate) n_prb: u16,
    /// Milliwatts in each resource block.
    pub(crate) power_mw: f64,
}

impl Channel {
    pub(crate) fn new(
        config: &RanConfig,
        cells: &[CellConfig],
        ues: &[UeConfig],
        streams: &Streams,
    ) -> Self {
        let per_block =
            |noise_figure: Decibels| thermal_noise_dbm(RESOURCE_BLOCK_HZ, noise_figure.as_db_f64());
        let carriers: Vec<Carrier> = config
            .carrier
            .iter()
            .map(|carrier| {
                let groups = usize::from(rbg_count(carrier.n_rb()));
                let block_dbm = config.enodeb_power.as_dbm_f64()
                    - 10.0 * libm::log10(f64::from(carrier.n_rb()));
                Carrier {
                    groups,
                    group_size: rbg_size(carrier.n_rb()).into(),
                    blocks: carrier.n_rb().into(),
                    all_groups: (1 << groups) - 1,
                    downlink: carrier.frequency,
                    uplink: carrier.uplink(),
                    snr: ratio(block_dbm - per_block(config.ue_noise_figure)) as f32,
                    element_dbm: block_dbm - 10.0 * libm::log10(12.0),
                    response: config.fading.value().map(|profile| {
                        let offsets = group_offsets_hz(carrier.n_rb().into(), 1, RESOURCE_BLOCK_HZ);
                        Arc::new(FrequencyResponse::new(profile, &offsets))
                    }),
                }
            })
            .collect();
        let sites = cells
            .iter()
            .map(|cell| {
                let name = format!("enb{}", cell.node.0);
                let losses = config
                    .carrier
                    .iter()
                    .map(|carrier| {
                        // One landscape for all carriers of a site.
                        let mut stream = streams.stream(&name, "large-scale loss");
                        let path_loss = config.path_loss.at(carrier.frequency);
                        LargeScaleLoss::new(path_loss, config.shadowing, &mut stream)
                    })
                    .collect();
                Site {
                    position: cell.position,
                    name,
                    losses,
                }
            })
            .collect();
        let users = ues
            .iter()
            .map(|ue| User {
                name: ue.name.clone(),
                heard: ue.channel.clone(),
                mobility: ue.mobility.clone(),
                moves: !ue.mobility.is_static(),
                steps: vec![u64::MAX; cells.len()],
                gains: vec![0.0; carriers.len() * cells.len()],
                others: (u64::MAX, 0),
                fading_cell: usize::MAX,
                fading: Vec::new(),
                fading_trace: ue.fading_trace.clone(),
                uplink_snr: ratio(-per_block(config.enodeb_noise_figure)) as f32,
            })
            .collect();
        let reports = |ue: &UeConfig| matches!(ue.channel, UeChannel::Cqi(_));
        let sinr_of_cqi = ues.iter().any(reports).then(|| SinrOfCqi::new(config));
        let history = config.cqi.period.0 + config.cqi.delay.0 + 8;
        Self {
            interference: config.interference,
            layers: f32::from(config.layers()),
            kept: ratio(-config.implementation_loss.as_db_f64()) as f32,
            activity: Activity::new(
                history.next_power_of_two() as usize,
                carriers.len(),
                cells.len(),
                config.interference == Interference::Full,
            ),
            carriers,
            cells: sites,
            users,
            sinr_of_cqi,
            fading_m_per_s: config.fading_speed.value().map(Speed::as_m_per_s_f64),
            streams: streams.clone(),
            values: [0.0; ROOM],
        }
    }

    /// Notes that a cell transmits on these groups in a TTI, once.
    #[inline]
    pub(crate) fn transmit(&mut self, tti: u64, carrier: usize, cell: usize, groups: u32) {
        let all_groups = self.carriers[carrier].all_groups;
        self.activity
            .transmit(tti, carrier, cell, groups, all_groups);
    }

    /// Notes an uplink transmission in a TTI.
    #[inline]
    pub(crate) fn transmit_uplink(&mut self, tti: u64, uplink_use: UplinkUse) {
        self.activity.slot(tti).uplink.push(uplink_use);
    }

    /// SINR of a UE's downlink on one layer in a TTI that is decided: one value, or one for each
    /// group, or one for each resource block.
    pub(crate) fn downlink(&mut self, ue: usize, cell: usize, carrier: usize, tti: u64) -> &[f32] {
        if let Some(heard) = self.heard(ue, tti) {
            return self.with_heard(heard, ue, cell, carrier, tti);
        }
        let Carrier {
            groups,
            group_size,
            blocks,
            snr,
            ..
        } = self.carriers[carrier];
        let row = carrier * self.cells.len();
        self.refresh(ue, cell, tti / SERVING_STEP_TTIS, SERVING_STEP_TTIS);
        let mut noise = 1.0;
        let mut uneven = false;
        if self.interference != Interference::Off
            && self.cells.len() > 1
            && let Some(active) = self.activity.of(tti)
            && active.somebody[carrier]
        {
            refresh_others(&mut self.users[ue], &self.cells, cell, tti);
            let gains = &self.users[ue].gains[row..row + self.cells.len()];
            let everywhere = &active.everywhere[row..row + self.cells.len()];
            let sum = dot(&gains[..cell], &everywhere[..cell])
                + dot(&gains[cell + 1..], &everywhere[cell + 1..]);
            noise += snr * sum;
            for &(other, used) in &active.somewhere[carrier] {
                if other as usize == cell {
                    continue;
                }
                if !uneven {
                    uneven = true;
                    self.values[..4 * GROUP_QUADS].fill(0.0);
                }
                let level = snr * gains[other as usize];
                let (quads, _) = self.values.as_chunks_mut::<4>();
                for (at, quad) in quads.iter_mut().take(GROUP_QUADS).enumerate() {
                    let switches = &SWITCHES[(used >> (4 * at) & 15) as usize];
                    for lane in 0..4 {
                        quad[lane] += level * switches[lane];
                    }
                }
            }
        }
        let signal = self.users[ue].gains[row + cell] * snr / self.layers;
        let kept = self.kept;
        if !self.fades(ue, carrier) {
            if !uneven {
                self.values[0] = kept * signal / noise;
                return &self.values[..1];
            }
            for value in &mut self.values[..groups] {
                *value = kept * signal / (noise + *value);
            }
            return &self.values[..groups];
        }
        let levels = uneven.then(|| {
            let mut levels = [0.0; MAX_GROUPS];
            levels[..groups].copy_from_slice(&self.values[..groups]);
            levels
        });
        self.tune(ue, cell);
        let frequency = self.carriers[carrier].downlink;
        let (gains, spread) = self.users[ue].fade(carrier, tti, frequency, self.fading_m_per_s);
        let values = &mut self.values[..blocks];
        let fade = |values: &mut [f32], gains: &[f32], noise: f32| {
            faded(values, gains, (signal, kept), noise, spread);
        };
        match levels {
            None => fade(values, gains, noise),
            Some(levels) => {
                let groups = values.chunks_mut(group_size).zip(gains.chunks(group_size));
                for ((values, gains), level) in groups.zip(levels) {
                    fade(values, gains, noise + level);
                }
            }
        }
        &self.values[..blocks]
    }

    /// Whether a link of a UE on a carrier fades.
    #[inline]
    fn fades(&self, ue: usize, carrier: usize) -> bool {
        self.carriers[carrier].response.is_some() || self.users[ue].fading_trace.is_some()
    }

    /// What a UE hears by its trace: the value, or the value as the mean of a channel that fades.
    fn with_heard(
        &mut self,
        heard: f32,
        ue: usize,
        cell: usize,
        carrier: usize,
        tti: u64,
    ) -> &[f32] {
        let is_mean = matches!(self.users[ue].heard, UeChannel::MeanSinr(_));
        if !is_mean || !self.fades(ue, carrier) {
            self.values[0] = heard;
            return &self.values[..1];
        }
        self.tune(ue, cell);
        let Carrier {
            blocks, downlink, ..
        } = self.carriers[carrier];
        let (gains, spread) = self.users[ue].fade(carrier, tti, downlink, self.fading_m_per_s);
        let values = &mut self.values[..blocks];
        // The trace has the implementation loss in it.
        let signal = (heard / self.kept, self.kept);
        faded(values, gains, signal, 1.0, spread);
        &self.values[..blocks]
    }

    /// What a trace says that a UE hears, if it has one.
    #[inline]
    fn heard(&self, ue: usize, tti: u64) -> Option<f32> {
        let now = start_of(tti);
        let heard = match &self.users[ue].heard {
            UeChannel::Radio => return None,
            UeChannel::Sinr(trace) | UeChannel::MeanSinr(trace) => {
                trace.value(now).map(|db| ratio(db) as f32)
            }
            UeChannel::Cqi(trace) => {
                let sinr = self.sinr_of_cqi.as_ref();
                trace
                    .value(now)
                    .zip(sinr)
                    .map(|(cqi, sinr)| sinr.ratio(cqi))
            }
        };
        Some(heard.unwrap_or(NOTHING))
    }

    /// SNR of a UE's uplink for one milliwatt in each resource block, without interference: one
    /// value, or one for each resource block.
    pub(crate) fn uplink(&mut self, ue: usize, cell: usize, tti: u64) -> &[f32] {
        self.refresh(ue, cell, tti / SERVING_STEP_TTIS, SERVING_STEP_TTIS);
        let user = &self.users[ue];
        let signal = self.kept * (user.gains[cell] * user.uplink_snr);
        if !self.fades(ue, 0) {
            self.values[0] = signal;
            return &self.values[..1];
        }
        self.tune(ue, cell);
        let blocks = self.carriers[0].blocks;
        let frequency = self.carriers[0].uplink;
        let link = self.carriers.len();
        let (gains, _) = self.users[ue].fade(link, tti, frequency, self.fading_m_per_s);
        for (value, gain) in self.values[..blocks].iter_mut().zip(gains) {
            *value = signal * gain;
        }
        &self.values[..blocks]
    }

    /// What other cells' UEs add to the noise of an uplink transmission, as a multiple of it.
    pub(crate) fn uplink_interference(&mut self, tti: u64, wanted: &UplinkUse) -> f32 {
        if self.interference == Interference::Off {
            return 0.0;
        }
        let mut sum = 0.0;
        let end = wanted.first_prb + wanted.n_prb;
        for at in 0..self.activity.slot(tti).uplink.len() {
            let other = self.activity.slot(tti).uplink[at];
            let overlap = end
                .min(other.first_prb + other.n_prb)
                .saturating_sub(wanted.first_prb.max(other.first_prb));
            if other.cell == wanted.cell || overlap == 0 {
                continue;
            }
            self.refresh(
                other.ue,
                wanted.cell,
                tti / OTHERS_STEP_TTIS,
                OTHERS_STEP_TTIS,
            );
            let user = &self.users[other.ue];
            let level = user.gains[wanted.cell] * user.uplink_snr * other.power_mw as f32;
            sum += level * f32::from(overlap) / f32::from(wanted.n_prb);
        }
        sum
    }

    /// The loss of the primary carrier between a UE and a cell, in decibels.
    pub(crate) fn loss_db(&mut self, ue: usize, cell: usize, tti: u64) -> f64 {
        self.refresh(ue, cell, tti / SERVING_STEP_TTIS, SERVING_STEP_TTIS);
        -10.0 * libm::log10(f64::from(self.users[ue].gains[cell]))
    }

    /// The cell that a UE receives strongest on the primary carrier, the first of equals.
    pub(crate) fn strongest(&mut self, ue: usize, tti: u64) -> usize {
        let mut best = 0;
        for cell in 0..self.cells.len() {
            self.refresh(ue, cell, tti / OTHERS_STEP_TTIS, OTHERS_STEP_TTIS);
            let gains = &self.users[ue].gains;
            if gains[cell] > gains[best] {
                best = cell;
            }
        }
        best
    }

    /// Levels of the reference signals of all cells at a UE on the primary carrier; the SINR of
    /// one of them, disturbed by the others as much as they are in use (`loads`, 0 to 1). Fading is
    /// averaged out.
    pub(crate) fn measure(
        &mut self,
        ue: usize,
        cell: usize,
        tti: u64,
        loads: &[f64],
        rsrp_dbm: &mut Vec<f64>,
    ) -> f64 {
        for other in 0..self.cells.len() {
            self.refresh(ue, other, tti / SERVING_STEP_TTIS, SERVING_STEP_TTIS);
        }
        // What interferes goes by steps of its own.
        self.users[ue].others = (u64::MAX, 0);
        let gains = &self.users[ue].gains[..self.cells.len()];
        let Carrier {
            snr, element_dbm, ..
        } = self.carriers[0];
        let snr = f64::from(snr);
        let decibel = |ratio: f64| 10.0 * libm::log10(ratio);
        rsrp_dbm.clear();
        let mut noise = 1.0;
        for (other, &gain) in gains.iter().enumerate() {
            rsrp_dbm.push(element_dbm + decibel(f64::from(gain)));
            if other != cell {
                noise += f64::from(gain) * snr * loads[other];
            }
        }
        decibel(f64::from(self.kept) * f64::from(gains[cell]) * snr / noise)
    }

    /// Says it in a sentence if the path loss between a UE where it begins and a cell is used
    /// outside its validity, on the first carrier where it is.
    pub(crate) fn outside_validity(&self, ue: usize, cell: usize) -> Option<String> {
        if self.users[ue].heard != UeChannel::Radio {
            return None;
        }
        let place = self.users[ue].mobility.position(start_of(0));
        let site = &self.cells[cell];
        let mut losses = site.losses.iter();
        losses.find_map(|loss| loss.path_loss().outside_validity(site.position, place))
    }

    /// The level of reference signals at which a UE has this SNR.
    pub(crate) fn rsrp_dbm(&self, snr_db: f64) -> f64 {
        let Carrier {
            snr, element_dbm, ..
        } = self.carriers[0];
        element_dbm + snr_db - 10.0 * libm::log10(f64::from(snr * self.kept))
    }

    #[inline]
    fn refresh(&mut self, ue: usize, cell: usize, step: u64, step_ttis: u64) {
        refresh(&mut self.users[ue], &self.cells, cell, step, step_ttis);
    }

    /// Makes the fading processes of a UE those of the link to this cell.
    fn tune(&mut self, ue: usize, cell: usize) {
        if self.users[ue].fading_cell == cell {
            return;
        }
        let user = &mut self.users[ue];
        user.fading_cell = cell;
        user.fading.clear();
        let site = &self.cells[cell].name;
        let down = self.carriers.iter().enumerate();
        let down = down.map(|(at, carrier)| (format!("fading {site} {at} down"), carrier));
        let up = [(format!("fading {site} 0 up"), &self.carriers[0])];
        for (purpose, carrier) in down.chain(up) {
            let mut stream = self.streams.stream(&user.name, &purpose);
            if let Some(trace) = &user.fading_trace {
                let windows = Windows::new(stream);
                user.fading.push(LinkFading::Trace(trace.clone(), windows));
            } else if let Some(response) = &carrier.response {
                let fading = Fading::new(response.clone(), &mut stream);
                user.fading.push(LinkFading::Waves(fading));
            }
        }
    }
}

/// Brings the gains between a user and a cell to where the user is at the begin of a step.
#[inline]
fn refresh(user: &mut User, cells: &[Site], cell: usize, step: u64, step_ttis: u64) {
    let tti = if user.moves { step * step_ttis } else { 0 };
    if user.steps[cell] != tti {
        user.steps[cell] = tti;
        user.look(cells, cell, tti);
    }
}

/// Brings the gains between a user and all cells but the serving one up to date.
#[inline]
fn refresh_others(user: &mut User, cells: &[Site], serving: usize, tti: u64) {
    let step = if user.moves {
        tti / OTHERS_STEP_TTIS
    } else {
        0
    };
    if user.others == (step, serving) {
        return;
    }
    user.others = (step, serving);
    for other in (0..cells.len()).filter(|&other| other != serving) {
        refresh(user, cells, other, step, OTHERS_STEP_TTIS);
    }
}

impl User {
    #[cold]
    fn look(&mut self, cells: &[Site], cell: usize, tti: u64) {
        let here = self.mobility.position(start_of(tti));
        let site = &cells[cell];
        for (carrier, loss) in site.losses.iter().enumerate() {
            self.gains[carrier * cells.len() + cell] =
                ratio(-loss.loss_db(site.position, here)) as f32;
        }
    }

    /// The gains of the resource blocks of a link, and what the Doppler spread adds to the noise
    /// for each unit of signal. A trace does not say its Doppler spread.
    fn fade(
        &mut self,
        link: usize,
        tti: u64,
        frequency: Frequency,
        speed_m_per_s: Option<f64>,
    ) -> (&[f32], f32) {
        let now: SimTime = start_of(tti);
        match &mut self.fading[link] {
            LinkFading::Trace(trace, windows) => (windows.gains(trace, tti), 0.0),
            LinkFading::Waves(fading) => {
                let (speed, travelled_m) = match speed_m_per_s {
                    Some(speed) => (speed, speed * now.as_secs_f64()),
                    None => {
                        let mobility = &self.mobility;
                        (mobility.speed_m_per_s(now), mobility.travelled_m(now))
                    }
                };
                let doppler = doppler_hz(speed, frequency);
                (
                    fading.gains(travelled_m / wavelength_m(frequency)),
                    inter_carrier_interference(doppler, SUBCARRIER_HZ) as f32,
                )
            }
        }
    }
}

/// SINRs of resource blocks with these gains, of a signal of which a share is kept.
#[inline]
fn faded(values: &mut [f32], gains: &[f32], (signal, kept): (f32, f32), noise: f32, spread: f32) {
    for (value, gain) in values.iter_mut().zip(gains) {
        let signal = signal * gain;
        *value = kept * signal / (noise + signal * spread);
    }
}

impl Activity {
    /// With `full`, all cells transmit on all groups at all times.
    fn new(slots: usize, carriers: usize, cells: usize, full: bool) -> Self {
        let everywhere = if full { 1.0 } else { 0.0 };
        let slot = || Slot {
            tti: u64::MAX,
            somebody: vec![full; carriers],
            everywhere: vec![everywhere; carriers * cells],
            somewhere: vec![Vec::new(); carriers],
            uplink: Vec::new(),
        };
        Self {
            slots: (0..slots).map(|_| slot()).collect(),
            cells,
            full,
        }
    }

    /// The record of a TTI, empty if it is a new one.
    #[inline]
    fn slot(&mut self, tti: u64) -> &mut Slot {
        let at = tti as usize & (self.slots.len() - 1);
        let slot = &mut self.slots[at];
        if slot.tti != tti {
            slot.tti = tti;
            slot.uplink.clear();
            if !self.full {
                slot.somebody.fill(false);
                slot.everywhere.fill(0.0);
                slot.somewhere.iter_mut().for_each(Vec::clear);
            }
        }
        slot
    }

    fn transmit(&mut self, tti: u64, carrier: usize, cell: usize, groups: u32, all_groups: u32) {
        if self.full {
            return;
        }
        let at = carrier * self.cells + cell;
        let slot = self.slot(tti);
        slot.somebody[carrier] = true;
        if groups == all_groups {
            slot.everywhere[at] = 1.0;
        } else {
            slot.somewhere[carrier].push((cell as u32, groups));
        }
    }

    /// The downlinks of a TTI, if there were any.
    #[inline]
    fn of(&self, tti: u64) -> Option<&Slot> {
        let slot = &self.slots[tti as usize & (self.slots.len() - 1)];
        (self.full || slot.tti == tti).then_some(slot)
    }
}

/// The sum of products, in an order that processors with vectors like.
#[inline]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (whole_a, rest_a) = a.as_chunks::<LANES>();
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in whole_a.iter().zip(whole_b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    rest + sums.iter().sum::<f32>()
}
