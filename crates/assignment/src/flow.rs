//! How much each link should carry for the demands.

use crate::binding;
use crate::demand::{Demand, FlowRates};
use crate::error::Error;
use crate::mesh::Mesh;
use crate::paths::short_paths;
use crate::program::{Goal, Program};

/// The flow rates of largest throughput: a multi-commodity flow over all paths of at most
/// `extra_hops` more hops than the shortest.
///
/// Demands that name a rate get that rate. Of the others the smallest is made as large as it can
/// be, then their sum, and then the airtime of it all as small as it can be. With named rates
/// alone, the fullest radio or channel is as empty as it can be. Each bit takes a link's time at
/// the link's highest rate. Where channels are given, the time of each collision domain is at most
/// all of it. Where they are not, that of the links of a node is at most its radios, that of a
/// link and all that would disturb it on one channel at most the channels, and that of a link all
/// of it; most assignments do worse. Links that carry nothing count in this, so that it is a little
/// too careful where only they join others that are out of each other's reach.
///
/// Rates are whole bit/s.
///
/// # Errors
///
/// Those of [`Mesh::validate`]; [`Error::NoPath`], [`Error::TooManyPaths`],
/// [`Error::Infeasible`] and [`Error::Solver`]; [`Error::Malformed`] for a demand from a node to
/// itself, to a node that is not there, or of no positive rate.
pub fn throughput(mesh: &Mesh, demands: &[Demand], extra_hops: u8) -> Result<FlowRates, Error> {
    let program = Program::new(mesh, checked(mesh, demands)?, extra_hops)?;
    let named = demands.iter().any(|demand| demand.rate_bps.is_some());
    let factor = if named {
        let met = program.solve(&Goal::Factor)?;
        if met.value < 1.0 - 1e-9 {
            return Err(Error::Infeasible(binding::explain(&program, &met)?));
        }
        Some(met.value)
    } else {
        None
    };
    let (amounts, shrink) = match factor {
        Some(factor) if demands.iter().all(|demand| demand.rate_bps.is_some()) => {
            let rates = demands
                .iter()
                .map(|demand| factor * demand.rate_bps.unwrap_or(0.0) / 1e6);
            (rates.collect(), factor)
        }
        _ => {
            let least = program.solve(&Goal::Least)?.value;
            (program.solve(&Goal::Total { least })?.amounts, 1.0)
        }
    };
    let cheapest = program.solve(&Goal::Airtime { amounts })?;
    let mut rates = program.per_link(&cheapest);
    for rate in rates.0.iter_mut().flatten() {
        *rate = libm::round(*rate / shrink);
    }
    Ok(rates)
}

/// Flow rates in proportion to the number of short paths, of all demands together, that lead over
/// a link: forward each path counts as one, back as the demand's reverse share. The busiest
/// direction has half of the lowest of the links' highest rates.
///
/// # Errors
///
/// As [`throughput`], but never [`Error::Infeasible`]; rates that demands name do not matter.
pub fn by_paths(mesh: &Mesh, demands: &[Demand], extra_hops: u8) -> Result<FlowRates, Error> {
    mesh.validate()?;
    let mut counts = vec![[0.0; 2]; mesh.links.len()];
    for (index, demand) in checked(mesh, demands)?.iter().enumerate() {
        for hop in short_paths(mesh, index, demand, extra_hops)?
            .iter()
            .flatten()
        {
            counts[hop.link][hop.direction] += 1.0;
            counts[hop.link][1 - hop.direction] += demand.reverse_share;
        }
    }
    let most = counts.iter().flatten().copied().fold(0.0, f64::max);
    let unit = half_of_the_slowest(mesh)? / most;
    Ok(FlowRates(
        counts
            .iter()
            .map(|both| both.map(|count| libm::round(count * unit)))
            .collect(),
    ))
}

/// The same flow rate everywhere: half of the lowest of the links' highest rates, so that a link
/// alone is full. Links without a channel have 0.
///
/// # Errors
///
/// Those of [`Mesh::validate`].
pub fn equal(mesh: &Mesh) -> Result<FlowRates, Error> {
    mesh.validate()?;
    let rate = libm::round(half_of_the_slowest(mesh)?);
    let of = |link| {
        if mesh.usable(link) {
            [rate; 2]
        } else {
            [0.0; 2]
        }
    };
    Ok(FlowRates((0..mesh.links.len()).map(of).collect()))
}

fn half_of_the_slowest(mesh: &Mesh) -> Result<f64, Error> {
    let slowest = mesh.fastest()?.into_iter().max().unwrap_or(0);
    Ok(mesh.rates_bps[slowest] as f64 / 2.0)
}

fn checked<'a>(mesh: &Mesh, demands: &'a [Demand]) -> Result<&'a [Demand], Error> {
    let malformed = |what: &str| Err(Error::Malformed(what.to_string()));
    if demands.is_empty() {
        return malformed("flow rates need at least one demand");
    }
    for demand in demands {
        if demand.from.max(demand.to) >= mesh.nodes.len() || demand.from == demand.to {
            return malformed("a demand is from a node to another");
        }
        let rate = demand.rate_bps.unwrap_or(1.0);
        if !(rate.is_finite() && rate > 0.0) {
            return malformed("the rate of a demand is positive");
        }
        if !(demand.reverse_share.is_finite() && demand.reverse_share >= 0.0) {
            return malformed("the reverse share of a demand is not negative");
        }
    }
    Ok(demands)
}
