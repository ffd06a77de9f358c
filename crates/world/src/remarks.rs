//! What is odd about a scenario and can only be told by the network that it makes.

use backlane_scenario::{Diagnostic, Remark, Scenario};

use crate::build::{BuildError, World};

/// Warnings about a run of a scenario file: UEs that are out of reach where they begin, and a path
/// loss outside its validity. At most one of each kind, which counts the others.
///
/// # Errors
/// As [`World::new`].
pub fn remarks(scenario: &Scenario, seed: u64, file: &str) -> Result<Vec<Diagnostic>, BuildError> {
    let world = World::new(scenario, seed, None)?;
    let Some((radio, ran)) = world.ran() else {
        return Ok(Vec::new());
    };
    let name = |ue: usize| &world.nodes[radio.ues[ue].index()].id;
    let cell = |ue: usize| &world.nodes[radio.enodebs[ran.serving_cell(ue)].index()].id;
    let mut remarks = Vec::new();
    let out: Vec<_> = ran.out_of_reach().collect();
    if let Some(&(ue, snr_db)) = out.first() {
        let message = format!(
            "{} is out of reach: its SNR from {} is {snr_db:.1} dB{}",
            name(ue),
            cell(ue),
            and_others(out.len() - 1)
        );
        let help = "bring it nearer, give more power, or another path loss";
        remarks.push(Remark::OutOfReach.warning(file, message, help));
    }
    let outside = |ue: usize| Some((ue, ran.outside_validity(ue)?));
    let mut outside = (0..radio.ues.len()).filter_map(outside);
    if let Some((ue, sentence)) = outside.next() {
        let message = format!(
            "{sentence} (between {} and {}{})",
            cell(ue),
            name(ue),
            and_others(outside.count())
        );
        let help = "results are as good as the extrapolation; path_loss has laws for other ranges";
        remarks.push(Remark::BeyondPathLoss.warning(file, message, help));
    }
    Ok(remarks)
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and one other".to_owned(),
        _ => format!(", and {count} others"),
    }
}
