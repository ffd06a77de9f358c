//! Code blocks and resource elements: what a transport block is cut into, and how many coded bits
//! there is room for.

/// A transport block cut into code blocks, TS 36.212 §5.1.1 and §5.1.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBlocks {
    /// Code blocks.
    pub count: u32,
    /// Bits of all code blocks together, with the checksum of the transport block and those of
    /// the code blocks.
    pub total_bits: u32,
}

const CHECKSUM_BITS: u32 = 24;
const LARGEST_CODE_BLOCK_BITS: u32 = 6144;

impl CodeBlocks {
    /// The code blocks of a transport block with its 24 bits of checksum.
    pub const fn of(transport_block_bits: u32) -> Self {
        Self::of_bits(transport_block_bits + CHECKSUM_BITS)
    }

    /// The code blocks for `bits` bits, the checksum of the transport block included.
    pub const fn of_bits(bits: u32) -> Self {
        if bits <= LARGEST_CODE_BLOCK_BITS {
            return Self {
                count: 1,
                total_bits: bits,
            };
        }
        let count = bits.div_ceil(LARGEST_CODE_BLOCK_BITS - CHECKSUM_BITS);
        Self {
            count,
            total_bits: bits + CHECKSUM_BITS * count,
        }
    }

    /// Bits of each code block. Transport blocks of the standard need no filler bits, so all are
    /// of one size.
    pub const fn size(self) -> u32 {
        self.total_bits / self.count
    }
}

/// Whether the turbo code's interleaver knows a block of this many bits: the 188 sizes of TS 36.212
/// table 5.1.3-3.
pub const fn is_code_block_size(bits: u32) -> bool {
    match bits {
        40..=512 => bits.is_multiple_of(8),
        513..=1024 => bits.is_multiple_of(16),
        1025..=2048 => bits.is_multiple_of(32),
        2049..=LARGEST_CODE_BLOCK_BITS => bits.is_multiple_of(64),
        _ => false,
    }
}

/// Which resource elements of a pair of resource blocks (168, normal cyclic prefix) carry the
/// shared channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Downlink: without the control region and the reference signals of 1, 2 or 4 antenna ports.
    Downlink {
        /// Antenna ports with cell-specific reference signals: 1, 2 or 4.
        ports: u8,
    },
    /// Uplink: without the two symbols of reference signals.
    Uplink {
        /// Whether the last symbol is left to sounding.
        sounding: bool,
    },
}

impl Grid {
    /// Resource elements for each resource block when the control region has `control_symbols`
    /// symbols (1 to 4; without meaning in the uplink). TS 36.211 for the reference
    /// signals. Broadcast and synchronisation, about 0.5 % of the elements, are not taken off.
    pub const fn resource_elements(self, control_symbols: u8) -> u32 {
        match self {
            Self::Uplink { sounding } => 12 * (12 - sounding as u32),
            Self::Downlink { ports } => {
                let control = if control_symbols < 1 {
                    1
                } else if control_symbols > 4 {
                    4
                } else {
                    control_symbols as u32
                };
                // Symbols 4, 7 and 11 have reference signals of ports 0 and 1, symbols 1 and 8
                // those of ports 2 and 3.
                let reference = match (ports, control) {
                    (0 | 1, _) => 6,
                    (2, _) => 12,
                    (_, 1) => 20,
                    (_, _) => 16,
                };
                12 * (14 - control) - reference
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_188_sizes_of_code_blocks() {
        let count = (0..10_000).filter(|&bits| is_code_block_size(bits)).count();
        assert_eq!(count, 188);
    }

    #[test]
    fn a_large_transport_block_is_cut_into_blocks_with_checksums_of_their_own() {
        let one = CodeBlocks::of(6120);
        assert_eq!((one.count, one.size()), (1, 6144));
        // 75 376 + 24 bits in 13 blocks of 5 800 + 24.
        let peak = CodeBlocks::of(75_376);
        assert_eq!((peak.count, peak.size()), (13, 5824));
    }

    #[test]
    fn resource_elements_leave_out_control_and_reference_signals() {
        let of = |ports| [1, 2, 3].map(|n| Grid::Downlink { ports }.resource_elements(n));
        assert_eq!(of(1), [150, 138, 126]);
        assert_eq!(of(2), [144, 132, 120]);
        assert_eq!(of(4), [136, 128, 116]);
        assert_eq!(Grid::Downlink { ports: 2 }.resource_elements(4), 108);
        assert_eq!(Grid::Uplink { sounding: false }.resource_elements(1), 144);
        assert_eq!(Grid::Uplink { sounding: true }.resource_elements(1), 132);
    }
}
