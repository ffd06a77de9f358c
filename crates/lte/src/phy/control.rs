//! The control region at the head of each subframe: how many assignments and grants fit into it.

/// The longest control region, in symbols (TS 36.211 table 6.7-1).
pub const MOST_SYMBOLS: usize = 4;

/// Control symbols, control channel elements (CCEs) and aggregation of one downlink carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlRegion {
    n_rb: u16,
    ports: u8,
}

impl ControlRegion {
    /// The control region of a carrier of `n_rb` resource blocks with 1, 2 or 4 antenna ports.
    pub const fn new(n_rb: u16, ports: u8) -> Self {
        Self { n_rb, ports }
    }

    /// Symbols that a control format indicator of 1 to 3 stands for: one more than it says on 10
    /// resource blocks and fewer, TS 36.211 table 6.7-1.
    pub const fn symbols(self, cfi: u8) -> u8 {
        let cfi = if cfi < 1 {
            1
        } else if cfi > 3 {
            3
        } else {
            cfi
        };
        cfi + (self.n_rb <= 10) as u8
    }

    /// CCEs in a region of this CFI: resource element groups (REGs) of all symbols, less 4 for the
    /// PCFICH and 3 for each of ⌈N_RB/8⌉ PHICH groups (N_g = 1), by 9. TS 36.211.
    pub const fn cces(self, cfi: u8) -> u16 {
        let symbols = self.symbols(cfi) as u16;
        // Reference signals take a third of the elements of symbol 0, and of symbol 1 with 4 ports.
        let regs_per_block = 2 + (symbols - 1) * 3 - (self.ports >= 4 && symbols >= 2) as u16;
        let taken = 4 + 3 * self.n_rb.div_ceil(8);
        (regs_per_block * self.n_rb).saturating_sub(taken) / 9
    }

    /// CCEs of one assignment or grant to a UE that reports `cqi`: the fewer the better its
    /// channel.
    pub const fn aggregation(cqi: u8) -> u16 {
        match cqi {
            12.. => 1,
            8.. => 2,
            5.. => 4,
            _ => 8,
        }
    }

    /// The lowest CFI with room for this many CCEs; 3 if none has.
    pub const fn cfi_for(self, cces: u16) -> u8 {
        if cces <= self.cces(1) {
            1
        } else if cces <= self.cces(2) {
            2
        } else {
            3
        }
    }
}

/// Probability that a UE misses the control region of a subframe, as in LENA: PCFICH and PDCCH
/// together, from 3GPP R4-081920 ("with implementation margin"), over the effective SINR of the
/// region in decibels. Between the points the logarithm is interpolated; nothing is lost above
/// −1 dB.
pub fn lena_control_error(sinr_db: f64) -> f64 {
    const LOWEST_DB: f64 = -10.0;
    const POINTS: [f64; 10] = [
        0.922_6, 0.694_1, 0.520_9, 0.343_1, 0.206_0, 0.109_1, 0.045_5, 0.017_5, 0.006_74, 0.002_07,
    ];
    let place = (sinr_db - LOWEST_DB).max(0.0);
    let cell = place as usize;
    if place > (POINTS.len() - 1) as f64 {
        return 0.0;
    }
    let next = POINTS[(cell + 1).min(POINTS.len() - 1)];
    POINTS[cell] * libm::pow(next / POINTS[cell], place - cell as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_region_are_what_reference_signals_and_phich_leave() {
        let wide = ControlRegion::new(100, 2);
        assert_eq!([1, 2, 3].map(|cfi| wide.cces(cfi)), [17, 50, 84]);
        // (2·50 − 4 − 21)/9, and with ports 2 and 3 one group in three less of symbol 1.
        let half = ControlRegion::new(50, 2);
        assert_eq!([1, 2, 3].map(|cfi| half.cces(cfi)), [8, 25, 41]);
        assert_eq!(
            [1, 2].map(|cfi| ControlRegion::new(100, 4).cces(cfi)),
            [17, 39]
        );
        let narrow = ControlRegion::new(6, 1);
        assert_eq!([1, 2, 3].map(|cfi| narrow.symbols(cfi)), [2, 3, 4]);
        assert_eq!([1, 2, 3].map(|cfi| narrow.cces(cfi)), [2, 4, 6]);
    }

    #[test]
    fn the_indicator_grows_with_the_assignments() {
        let region = ControlRegion::new(100, 2);
        assert_eq!(
            [0, 17, 18, 50, 51, 200].map(|n| region.cfi_for(n)),
            [1, 1, 2, 2, 3, 3]
        );
    }

    #[test]
    fn a_bad_channel_takes_more_elements() {
        let by_cqi = [15, 12, 11, 8, 7, 5, 4, 0].map(ControlRegion::aggregation);
        assert_eq!(by_cqi, [1, 1, 2, 2, 4, 4, 8, 8]);
    }

    #[test]
    fn the_control_channel_of_lena_fails_at_low_signal_only() {
        assert!((lena_control_error(-5.0) - 0.109).abs() < 1e-3);
        // Two points that lie between those of the table.
        assert!((lena_control_error(-2.4) - 0.009_88).abs() < 2e-4);
        assert!((lena_control_error(-4.4) - 0.064_6).abs() < 1e-3);
        assert_eq!(lena_control_error(-0.99), 0.0);
        assert!(lena_control_error(-40.0) > 0.9);
        assert!(lena_control_error(-1.0) > 0.0);
    }
}
