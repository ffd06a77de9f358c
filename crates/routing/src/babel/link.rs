//! The cost of a link by the HELLOs that were heard (RFC 8966 appendix A), as babeld and BIRD
//! compute it. Costs are integers from 1 to infinity, 65 535.

use backlane_units::Duration;

use super::message::INFINITY;

const QUIET: Duration = Duration::from_secs(40);
const SILENT: Duration = Duration::from_secs(180);

/// Two of the last three, and not those before (appendix A.2.1).
fn two_of_three(reach: u16) -> bool {
    (reach >> 13).count_ones() >= 2
}

/// babeld's cost of receiving on a wire.
///
/// Args: `reach`: the last 16 HELLOs, the newest in the highest bit; `nominal`: the cost of a good
/// link.
pub fn wired(reach: u16, nominal: u16) -> u16 {
    if two_of_three(reach) {
        nominal
    } else {
        INFINITY
    }
}

/// babeld's cost of receiving over a radio: the nominal cost over the share of HELLOs heard, of which
/// the newest counts ¼ and each older one half of that but for the second. It grows with silence
/// beyond 40 s.
pub fn wireless(reach: u16, nominal: u16, silence: Duration) -> u16 {
    if reach & 0xfff0 == 0 || silence >= SILENT {
        return INFINITY;
    }
    let reach = u32::from(reach);
    let share = ((reach & 0x8000) >> 2) + ((reach & 0x4000) >> 1) + (reach & 0x3fff);
    let mut cost = u64::from(0x8000 * u32::from(nominal) / (share + 1));
    if silence >= QUIET {
        let silence_ms = silence.as_ps() / 1_000_000_000;
        cost = (cost * (silence_ms - 20_000) + 10_000) / 20_000;
    }
    cost.min(u64::from(INFINITY)) as u16
}

/// babeld's cost of a link: on a wire what the neighbour says, over a radio ETX.
///
/// Args: `txcost`: the neighbour's cost of receiving; `rxcost`: the own.
pub fn babeld(txcost: u16, rxcost: u16, is_wireless: bool) -> u16 {
    if txcost == INFINITY || rxcost == INFINITY {
        return INFINITY;
    }
    if !is_wireless || (txcost < 256 && rxcost < 256) {
        return txcost;
    }
    let [tx, rx] = [txcost, rxcost].map(|cost| u32::from(cost.max(256)));
    ((tx * rx + 128) >> 8).min(INFINITY.into()) as u16
}

/// BIRD's costs on a wire and over a radio: of receiving, and of the link.
///
/// Args: `heard` of `expected` HELLOs, up to 16; `txcost`: the neighbour's cost of receiving; `limit`:
/// a wire with fewer than this number of 16 HELLOs is down.
pub fn bird(
    heard: u32,
    expected: u32,
    nominal: u16,
    txcost: u16,
    is_wireless: bool,
    limit: u32,
) -> (u16, u16) {
    if heard == 0 {
        return (INFINITY, INFINITY);
    }
    if !is_wireless {
        if heard * 16 < limit * expected {
            return (INFINITY, INFINITY);
        }
        return (nominal, txcost);
    }
    let etx = |cost: u16| (u32::from(cost) * expected / heard).min(INFINITY.into()) as u16;
    (etx(nominal), etx(txcost))
}

/// What the round-trip time adds to the cost of a link (draft-ietf-babel-rtt-extension §4): nothing up
/// to `least`, the whole penalty from `most` on.
pub fn rtt_penalty(rtt: Duration, least: Duration, most: Duration, penalty: u16) -> u16 {
    if rtt <= least {
        return 0;
    }
    if rtt > most {
        return penalty;
    }
    let over = u128::from(rtt.as_ps() - least.as_ps());
    let span = u128::from(most.as_ps() - least.as_ps());
    (u128::from(penalty) * over / span) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_of_babeld_needs_two_of_three() {
        let good = [0xc000, 0xa000, 0x6000, 0xffff];
        assert!(good.iter().all(|&reach| wired(reach, 96) == 96));
        let bad = [0x8000, 0x4000, 0x3000];
        assert!(bad.iter().all(|&reach| wired(reach, 96) == INFINITY));
    }

    /// Computed with the integers of babeld's source.
    #[test]
    fn a_radio_of_babeld_has_the_recent_share() {
        let cost = |reach| wireless(reach, 256, Duration::ZERO);
        let expected = [
            (0xffff, 256),
            (0x7fff, 341),
            (0xbfff, 341),
            (0x3fff, 512),
            (0xaaaa, 438),
            (0x5555, 614),
            (0xc000, 511),
            (0x8000, 1023),
            (0x000f, INFINITY),
        ];
        for (reach, wanted) in expected {
            assert_eq!(cost(reach), wanted, "{reach:x}");
        }
        assert_eq!(wireless(0xffff, 256, Duration::from_secs(50)), 384);
        assert_eq!(wireless(0xffff, 256, SILENT), INFINITY);
    }

    #[test]
    fn a_link_of_babeld_costs_etx_over_a_radio() {
        for (tx, rx, wanted) in [
            (256, 256, 256),
            (320, 320, 400),
            (512, 256, 512),
            (512, 512, 1024),
            (96, 96, 96),
            (INFINITY, 256, INFINITY),
        ] {
            assert_eq!(babeld(tx, rx, true), wanted, "{tx} {rx}");
        }
        assert_eq!(babeld(512, 96, false), 512);
    }

    #[test]
    fn a_wire_of_bird_needs_12_of_16() {
        let cost = |heard, expected| bird(heard, expected, 96, 96, false, 12);
        assert_eq!(cost(12, 16), (96, 96));
        assert_eq!(cost(11, 16), (INFINITY, INFINITY));
        assert_eq!(cost(1, 1), (96, 96));
        assert_eq!(cost(2, 4), (INFINITY, INFINITY));
        assert_eq!(bird(12, 16, 256, 256, true, 12), (341, 341));
        assert_eq!(bird(8, 16, 256, INFINITY, true, 12), (512, INFINITY));
    }

    #[test]
    fn the_penalty_of_a_round_trip_is_linear() {
        let penalty = |ms| {
            rtt_penalty(
                Duration::from_millis(ms),
                Duration::from_millis(10),
                Duration::from_millis(120),
                96,
            )
        };
        assert_eq!([10, 20, 65, 120, 200].map(penalty), [0, 8, 48, 96, 96]);
    }
}
