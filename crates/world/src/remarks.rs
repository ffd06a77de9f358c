//! Warnings about a scenario that need its network to be built.

use std::borrow::Cow;

use backlane_net::NodeId;
use backlane_param::Params;
use backlane_routing::shortest_path;
use backlane_scenario::model::Routing;
use backlane_scenario::{Diagnostic, Remark, Scenario};

use crate::error::BuildError;
use crate::world::World;

/// Warnings about a run of a scenario file: UEs that are out of reach where they begin, a path
/// loss outside its validity, links over radios that are out of range, and a network with radios
/// that is in pieces. At most one of each kind, which counts the others.
///
/// # Errors
/// As [`World::new`].
pub fn remarks(scenario: &Scenario, seed: u64, file: &str) -> Result<Vec<Diagnostic>, BuildError> {
    let mut scenario = Cow::Borrowed(scenario);
    if scenario.python_router.is_some() {
        // Routers in Python are not available here, and radios do not depend on them.
        scenario.to_mut().routing = Routing {
            protocol: "shortest-path".to_owned(),
            values: shortest_path::Config::default().write(),
        };
    }
    let world = World::new(&scenario, seed, None)?;
    let mut remarks = of_cells(&world, file);
    remarks.extend(of_radios(&world, file)?);
    Ok(remarks)
}

/// Warnings about the radios of a mesh.
fn of_radios(world: &World, file: &str) -> Result<Vec<Diagnostic>, BuildError> {
    let mut remarks = Vec::new();
    let Some(radios) = &world.wifi else {
        return Ok(remarks);
    };
    let long = radios.out_of_range()?;
    if let Some([a, b]) = long.first() {
        let message = format!(
            "the radio link {a}-{b} is out of range{}",
            and_others(long.len() - 1)
        );
        let help = "give [wifi] or the link a loss, so that it works whatever its length, or \
                    bring its ends nearer";
        remarks.push(Remark::LongRadioLink.warning(file, message, help));
    }
    let pieces = world.pieces();
    let name = |node: usize| &world.nodes[node].id;
    let cut_off: Vec<usize> = (0..pieces.len())
        .filter(|&node| pieces[node] != pieces[0])
        .collect();
    if let Some(&stranded) = cut_off.first() {
        let piece = |node: NodeId| pieces[node.index()];
        let flows = world.simulation.application.flows().iter();
        let split = flows.filter(|flow| piece(flow.spec.source) != piece(flow.spec.destination));
        let concerned = match split.count() {
            0 => "no flow needs one".to_owned(),
            count => format!("{count} of {} flows get nothing through", world.flows.len()),
        };
        let message = format!(
            "there is no way from \"{}\" to \"{}\"{}; {concerned}",
            name(0),
            name(stranded),
            and_others(cut_off.len() - 1),
        );
        let help = "give more power, or a route in between";
        remarks.push(Remark::Partitioned.warning(file, message, help));
    }
    Ok(remarks)
}

/// Warnings about the cells of a radio access network.
fn of_cells(world: &World, file: &str) -> Vec<Diagnostic> {
    let Some((radio, ran)) = world.ran() else {
        return Vec::new();
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
    remarks
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and one other".to_owned(),
        _ => format!(", and {count} others"),
    }
}
