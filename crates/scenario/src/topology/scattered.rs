//! Sites at random places of a square.

use backlane_units::Length;

use super::draws::SplitMix;
use super::network::Network;
use super::positions::Positions;
use super::sites::{Sites, joined};
use crate::diagnostic::Span;
use crate::files::Files;
use crate::problems::Problems;
use crate::tree::Table;

/// Builds the network: enb1, enb2, … in the order in which they are drawn.
pub(super) fn build(
    table: &Table,
    seed: u64,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Network> {
    let span = table.place("nodes", Span::default());
    let nodes: u64 = table.integer("nodes")?;
    let spacing: Length = table.quantity("spacing")?;
    let side = side(nodes, spacing);
    let mut draws = SplitMix::of(table, seed)?;
    let mut names = Vec::new();
    let mut places = Vec::new();
    for node in 1..=nodes {
        if !problems.go_on() {
            return None;
        }
        let mut at = || Length::from_um(draws.within(side)).as_m_f64();
        places.push((at(), at()));
        names.push((format!("enb{node}"), span));
    }
    let positions = Positions::Plane(places);
    joined(&Sites { names, positions }, table, span, files, problems)
}

/// The side of a square with a node in each `spacing` × `spacing` on average.
fn side(nodes: u64, spacing: Length) -> Length {
    let spacing_um = u128::from(spacing.as_um().unsigned_abs());
    let side_um = (u128::from(nodes) * spacing_um * spacing_um).isqrt();
    Length::from_um(i64::try_from(side_um).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_sites_three_kilometres_apart_fill_a_square_of_thirty() {
        let spacing: Length = "3 km".parse().unwrap();
        assert_eq!(side(100, spacing), "30 km".parse().unwrap());
    }
}
