//! What 3GPP TS 36.213 writes in tables: modulations, MCS, transport block sizes, CQI, RBGs.

use std::sync::LazyLock;

/// A modulation of the shared channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// 2 bits a symbol.
    Qpsk,
    /// 4 bits a symbol.
    Qam16,
    /// 6 bits a symbol.
    Qam64,
    /// 8 bits a symbol.
    Qam256,
}

impl Modulation {
    /// All, by bits a symbol.
    pub const ALL: [Self; 4] = [Self::Qpsk, Self::Qam16, Self::Qam64, Self::Qam256];

    /// Coded bits in a symbol.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
        }
    }

    pub(crate) const fn index(self) -> usize {
        self.bits() as usize / 2 - 1
    }
}

/// Which table an MCS index points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum McsTable {
    /// Downlink up to 64QAM, MCS 0 to 28: table 7.1.7.1-1.
    Qam64,
    /// Downlink up to 256QAM, MCS 0 to 27: table 7.1.7.1-1A.
    Qam256,
    /// Uplink, MCS 0 to 28: table 8.6.1-1. Up to 20 it is 16QAM at most, which every UE can send.
    Uplink,
}

impl McsTable {
    /// The highest MCS that says its own transport block size.
    pub const fn highest(self) -> u8 {
        match self {
            Self::Qam64 | Self::Uplink => 28,
            Self::Qam256 => 27,
        }
    }

    /// The modulation of `mcs`; above the highest, that of the highest.
    pub const fn modulation(self, mcs: u8) -> Modulation {
        match (self, mcs) {
            (Self::Qam64, 0..=9) | (Self::Qam256, 0..=4) | (Self::Uplink, 0..=10) => {
                Modulation::Qpsk
            }
            (Self::Qam64, 10..=16) | (Self::Qam256, 5..=10) | (Self::Uplink, 11..=20) => {
                Modulation::Qam16
            }
            (Self::Qam64 | Self::Uplink, _) | (Self::Qam256, 11..=19) => Modulation::Qam64,
            (Self::Qam256, _) => Modulation::Qam256,
        }
    }

    /// The row of the table of transport block sizes for `mcs`; above the highest, that of the
    /// highest.
    pub const fn i_tbs(self, mcs: u8) -> u8 {
        let mcs = if mcs > self.highest() {
            self.highest()
        } else {
            mcs
        };
        match self {
            Self::Qam64 => mcs - (mcs >= 10) as u8 - (mcs >= 17) as u8,
            Self::Uplink => mcs - (mcs >= 11) as u8 - (mcs >= 21) as u8,
            Self::Qam256 => match mcs {
                0..=4 => 2 * mcs,
                5..=20 => mcs + 5,
                _ => mcs + 6,
            },
        }
    }
}

/// Most resource blocks that the tables know.
pub const MOST_RESOURCE_BLOCKS: u16 = 110;

/// Resource blocks of the widest carrier (TS 36.101 table 5.6-1).
pub const MOST_CARRIER_BLOCKS: usize = 100;

/// Information bits of a transport block: row `i_tbs` (0 to 33) on `n_prb` resource blocks (1 to
/// 110), spread over `layers` (1 or 2) spatial layers. Values outside are taken as the nearest
/// inside.
///
/// TS 36.213 §7.1.7.2.1 and §7.1.7.2.2. Two streams of a 2×2 system are two blocks of one layer,
/// those of a 4×4 system two blocks of two layers.
pub fn transport_block_bits(i_tbs: u8, n_prb: u16, layers: u8) -> u32 {
    static TABLES: LazyLock<BlockSizes> = LazyLock::new(BlockSizes::read);
    let blocks = n_prb.clamp(1, MOST_RESOURCE_BLOCKS);
    let row = &TABLES.one_layer[usize::from(i_tbs).min(TABLES.one_layer.len() - 1)];
    let of = |blocks: u16| row[usize::from(blocks) - 1];
    if layers < 2 {
        of(blocks)
    } else if 2 * blocks <= MOST_RESOURCE_BLOCKS {
        of(2 * blocks)
    } else {
        let one = of(blocks);
        let at = TABLES.two_layers.partition_point(|pair| pair.0 < one);
        TABLES.two_layers[at].1
    }
}

struct BlockSizes {
    one_layer: Vec<Vec<u32>>,
    two_layers: Vec<(u32, u32)>,
}

impl BlockSizes {
    fn read() -> Self {
        let one_layer = rows(include_str!("../../data/transport_block_sizes.csv"))
            .map(|row| row[1..].iter().map(|bits| *bits as u32).collect())
            .collect();
        let two_layers = rows(include_str!("../../data/two_layer_block_sizes.csv"))
            .map(|row| (row[0] as u32, row[1] as u32))
            .collect();
        Self {
            one_layer,
            two_layers,
        }
    }
}

/// The rows of a table of numbers below its heading. A cell that is no number is NaN.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<f64>> {
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(|c| c.parse().unwrap_or(f64::NAN)))
        .map(Iterator::collect)
}

/// What a CQI says about the channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cqi {
    /// Modulation that would be received.
    pub modulation: Modulation,
    /// Code rate × 1024 that would be received with at most 10 % block errors.
    pub code_rate_x1024: u16,
}

impl Cqi {
    /// Information bits for each coded bit.
    pub fn code_rate(self) -> f64 {
        f64::from(self.code_rate_x1024) / 1024.0
    }

    /// Information bits for each resource element.
    pub fn efficiency(self) -> f64 {
        self.code_rate() * f64::from(self.modulation.bits())
    }
}

/// Which table a CQI points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CqiTable {
    /// Up to 64QAM: table 7.2.3-1.
    Qam64,
    /// Up to 256QAM: table 7.2.3-2.
    Qam256,
}

impl CqiTable {
    /// The meaning of `cqi`, 1 to 15; none for 0 ("out of range") and beyond.
    pub fn cqi(self, cqi: u8) -> Option<Cqi> {
        const QAM64: [u16; 15] = [
            78, 120, 193, 308, 449, 602, 378, 490, 616, 466, 567, 666, 772, 873, 948,
        ];
        const QAM256: [u16; 15] = [
            78, 193, 449, 378, 490, 616, 466, 567, 666, 772, 873, 711, 797, 885, 948,
        ];
        let at = usize::from(cqi).checked_sub(1)?;
        let (rates, modulation) = match (self, cqi) {
            (Self::Qam64, 0..=6) => (QAM64, Modulation::Qpsk),
            (Self::Qam64, 7..=9) => (QAM64, Modulation::Qam16),
            (Self::Qam64, _) => (QAM64, Modulation::Qam64),
            (Self::Qam256, 0..=3) => (QAM256, Modulation::Qpsk),
            (Self::Qam256, 4..=6) => (QAM256, Modulation::Qam16),
            (Self::Qam256, 7..=11) => (QAM256, Modulation::Qam64),
            (Self::Qam256, _) => (QAM256, Modulation::Qam256),
        };
        rates.get(at).map(|&code_rate_x1024| Cqi {
            modulation,
            code_rate_x1024,
        })
    }
}

/// Resource blocks in a resource block group of a carrier with `n_rb`: table 7.1.6.1-1.
pub const fn rbg_size(n_rb: u16) -> u16 {
    match n_rb {
        0..=10 => 1,
        11..=26 => 2,
        27..=63 => 3,
        _ => 4,
    }
}

/// Resource block groups of a carrier with `n_rb`; the last may be smaller.
pub const fn rbg_count(n_rb: u16) -> u16 {
    n_rb.div_ceil(rbg_size(n_rb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::coding::{CodeBlocks, is_code_block_size};

    #[test]
    fn mcs_are_those_of_the_standard() {
        let text = include_str!("../../data/mcs.csv");
        let mut seen = [0, 0, 0];
        for (name, row) in text.lines().skip(1).zip(rows(text)) {
            let (at, table) = match name.split(',').next() {
                Some("pdsch_64qam") => (0, McsTable::Qam64),
                Some("pdsch_256qam") => (1, McsTable::Qam256),
                Some("pusch_64qam") => (2, McsTable::Uplink),
                other => panic!("{other:?}"),
            };
            let mcs = row[1] as u8;
            assert_eq!(f64::from(table.modulation(mcs).bits()), row[2], "{name}");
            assert_eq!(f64::from(table.i_tbs(mcs)), row[3], "{name}");
            assert!(mcs <= table.highest());
            seen[at] += 1;
        }
        assert_eq!(seen, [29, 28, 29]);
    }

    #[test]
    fn cqi_are_those_of_the_standard() {
        let mut seen = 0;
        for row in rows(include_str!("../../data/cqi.csv")) {
            let table = if row[0] == 1.0 {
                CqiTable::Qam64
            } else {
                CqiTable::Qam256
            };
            let cqi = table.cqi(row[1] as u8);
            if row[1] == 0.0 {
                assert_eq!(cqi, None);
                continue;
            }
            let cqi = cqi.expect("1 to 15");
            assert_eq!(f64::from(cqi.modulation.bits()), row[2]);
            assert_eq!(f64::from(cqi.code_rate_x1024), row[3]);
            assert!((cqi.efficiency() - row[4]).abs() < 6e-5, "{row:?}");
            seen += 1;
        }
        assert_eq!(seen, 30);
        assert_eq!(CqiTable::Qam64.cqi(16), None);
    }

    #[test]
    fn resource_block_groups_are_those_of_the_standard() {
        for row in rows(include_str!("../../data/resource_block_groups.csv")) {
            assert_eq!(f64::from(rbg_size(row[1] as u16)), row[2]);
            assert_eq!(f64::from(rbg_count(row[1] as u16)), row[3]);
        }
    }

    /// The sizes were chosen so that no filler bit is needed, TS 36.213 §7.1.7.2.
    #[test]
    fn every_transport_block_fills_its_code_blocks_exactly() {
        for layers in [1, 2] {
            for i_tbs in 0..=33 {
                for n_prb in 1..=110 {
                    let bits = transport_block_bits(i_tbs, n_prb, layers);
                    let blocks = CodeBlocks::of(bits);
                    assert_eq!(blocks.total_bits % blocks.count, 0, "{bits}");
                    assert!(is_code_block_size(blocks.size()), "{bits}");
                }
            }
        }
    }

    #[test]
    fn a_block_on_two_layers_holds_about_two_blocks_of_one() {
        for i_tbs in 0..=33 {
            for n_prb in 56..=110 {
                let one = f64::from(transport_block_bits(i_tbs, n_prb, 1));
                let two = f64::from(transport_block_bits(i_tbs, n_prb, 2));
                assert!((two / one - 2.0).abs() < 0.045, "{one} {two}");
            }
            assert_eq!(
                transport_block_bits(i_tbs, 55, 2),
                transport_block_bits(i_tbs, 110, 1)
            );
        }
    }

    /// UE categories 3, 4, 5 and 8 of TS 36.306 table 4.1-1 are made of these blocks.
    #[test]
    fn peak_rates_are_those_of_the_ue_categories() {
        assert_eq!(transport_block_bits(26, 100, 1), 75_376);
        assert_eq!(transport_block_bits(26, 50, 1), 36_696);
        assert_eq!(transport_block_bits(26, 25, 1), 18_336);
        assert_eq!(transport_block_bits(25, 100, 1), 63_776);
        assert_eq!(transport_block_bits(26, 100, 2), 149_776);
        assert_eq!(transport_block_bits(33, 100, 1), 97_896);
        assert_eq!(transport_block_bits(33, 100, 2), 195_816);
    }

    #[test]
    fn sizes_are_those_of_the_standard_here_and_there() {
        for (i_tbs, n_prb, bits) in [
            (0, 1, 16),
            (6, 1, 328),
            (26, 1, 712),
            (9, 50, 7992),
            (15, 75, 22_920),
            (19, 100, 43_816),
            (26, 110, 75_376),
        ] {
            assert_eq!(transport_block_bits(i_tbs, n_prb, 1), bits);
        }
    }

    #[test]
    fn more_blocks_or_a_higher_row_never_hold_less() {
        for i_tbs in 0..=33 {
            for n_prb in 1..=110 {
                // One cell of the standard stands out: 328 bits for voice on a single block.
                if (i_tbs, n_prb) != (6, 1) {
                    let here = transport_block_bits(i_tbs, n_prb, 1);
                    assert!(transport_block_bits(i_tbs, n_prb + 1, 1) >= here);
                    // Row 26 belongs to 64QAM and has more than the first rows of 256QAM.
                    let next = if i_tbs == 25 { 27 } else { i_tbs + 1 };
                    assert!(i_tbs == 26 || transport_block_bits(next, n_prb, 1) >= here);
                }
            }
        }
    }
}
