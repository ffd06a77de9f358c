//! A bearer over an air of transport blocks of any size, of which some are lost and others late.

use backlane_lte::config::RanConfig;
use backlane_lte::pdcp::PdcpConfig;
use backlane_lte::rlc::{Bearer, Direction, Outcome, Pdu, RlcConfig};
use backlane_net::PacketId;
use backlane_param::BufferLimit;
use backlane_units::{Duration, SimTime};

pub const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];
pub const UNLIMITED: BufferLimit = BufferLimit::Packets(u32::MAX);

/// RLC as LENA has it.
pub fn lena() -> RlcConfig {
    RanConfig::default().as_lena().unwrap().rlc
}

pub fn at_ms(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

/// Marsaglia's xorshift64*: enough for tests, the same everywhere.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// How the air treats a transport block.
#[derive(Clone, Copy)]
pub struct Weather {
    pub grant_bytes_max: u64,
    pub loss_percent: u64,
    /// HARQ retransmissions of 8 ms each come before a block arrives, none to this many.
    pub harq_max: u64,
}

struct Block {
    arrives_ms: u64,
    direction: Direction,
    pdus: Vec<Pdu>,
}

pub struct Air {
    pub bearer: Bearer,
    pub now_ms: u64,
    pub dice: Dice,
    pub delivered: [Vec<PacketId>; 2],
    pub dropped: Vec<PacketId>,
    pub lost: Vec<PacketId>,
    pub granted_bytes: u64,
    pub used_bytes: u64,
    pub sizes: Vec<u32>,
    blocks: Vec<Block>,
}

impl Air {
    /// With a buffer that holds everything.
    pub fn new(rlc: impl Into<RlcConfig>, seed: u64) -> Self {
        let rlc = RlcConfig {
            buffer: UNLIMITED,
            ..rlc.into()
        };
        Self::with(&rlc, &PdcpConfig::default(), seed)
    }

    pub fn with(rlc: &RlcConfig, pdcp: &PdcpConfig, seed: u64) -> Self {
        Self {
            bearer: Bearer::new(rlc, pdcp),
            now_ms: 0,
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            delivered: [Vec::new(), Vec::new()],
            dropped: Vec::new(),
            lost: Vec::new(),
            granted_bytes: 0,
            used_bytes: 0,
            sizes: Vec::new(),
            blocks: Vec::new(),
        }
    }

    pub fn now(&self) -> SimTime {
        at_ms(self.now_ms)
    }

    fn sort_out(&mut self, direction: Direction, outcome: Outcome) {
        let delivered = outcome.delivered.iter().map(|delivered| delivered.packet);
        self.delivered[index(direction)].extend(delivered);
        self.dropped.extend(outcome.dropped);
        self.lost.extend(outcome.lost);
    }

    pub fn push(&mut self, direction: Direction, number: u32, bytes: u32) {
        let mut outcome = Outcome::default();
        let now = self.now();
        self.bearer
            .push(direction, now, PacketId(number), bytes, &mut outcome);
        self.sort_out(direction, outcome);
    }

    /// Fills one block; it does not leave.
    pub fn fill(&mut self, direction: Direction, grant_bytes: u32) -> Vec<Pdu> {
        let (mut pdus, mut outcome) = (Vec::new(), Outcome::default());
        let now = self.now();
        let used = self
            .bearer
            .fill(direction, now, grant_bytes, 3, &mut pdus, &mut outcome);
        let pdu_bytes: u32 = pdus.iter().map(Pdu::bytes).sum();
        assert!(used <= grant_bytes);
        assert_eq!(used, pdu_bytes + 3 * pdus.len() as u32);
        self.granted_bytes += u64::from(grant_bytes);
        self.used_bytes += u64::from(used);
        self.sizes.extend(pdus.iter().map(Pdu::bytes));
        self.sort_out(direction, outcome);
        pdus
    }

    pub fn arrive(&mut self, direction: Direction, pdus: &[Pdu]) {
        let mut outcome = Outcome::default();
        let now = self.now();
        for pdu in pdus {
            self.bearer.on_pdu(direction, now, pdu, &mut outcome);
        }
        // Data alone delivers, and only in its own direction.
        self.sort_out(direction, outcome);
    }

    pub fn run_timers(&mut self) {
        let mut outcome = Outcome::default();
        if self.bearer.next_deadline() <= self.now() {
            let now = self.now();
            self.bearer.on_deadline(now, &mut outcome);
            assert!(self.bearer.next_deadline() > now, "a deadline stands still");
        }
        assert!(outcome.delivered.is_empty() || !self.lost.is_empty() || !outcome.lost.is_empty());
        self.sort_out(Direction::Down, outcome);
    }

    /// One TTI in both directions.
    pub fn step(&mut self, weather: Weather) {
        self.run_timers();
        for direction in BOTH {
            let status = self.bearer.status(direction, self.now());
            let grant_bytes = self.dice.below(weather.grant_bytes_max + 1) as u32;
            if status.is_empty() {
                continue;
            }
            let pdus = self.fill(direction, grant_bytes);
            if !pdus.is_empty() && !self.dice.chance(weather.loss_percent) {
                let arrives_ms = self.now_ms + 4 + 8 * self.dice.below(weather.harq_max + 1);
                self.blocks.push(Block {
                    arrives_ms,
                    direction,
                    pdus,
                });
            }
        }
        self.now_ms += 1;
        let now_ms = self.now_ms;
        let arrived: Vec<Block> = self
            .blocks
            .extract_if(.., |block| block.arrives_ms <= now_ms)
            .collect();
        for block in arrived {
            self.arrive(block.direction, &block.pdus);
        }
    }

    /// A new start, with a reset of the MAC: what is under way is thrown away.
    pub fn reestablish(&mut self) {
        self.blocks.clear();
        let mut outcome = Outcome::default();
        self.bearer.reestablish(&mut outcome);
        self.sort_out(Direction::Down, outcome);
    }

    pub fn held_pkts(&self) -> usize {
        BOTH.iter().map(|&way| self.bearer.held_pkts(way)).sum()
    }

    pub fn numbers(&self, direction: Direction) -> Vec<u32> {
        self.delivered[index(direction)]
            .iter()
            .map(|packet| packet.0)
            .collect()
    }
}

pub fn index(direction: Direction) -> usize {
    usize::from(direction == Direction::Up)
}
