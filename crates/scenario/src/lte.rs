//! LTE access in a file: the places of its UEs. The model declares its own keys.

use backlane_units::{Angle, Duration, Length, Speed};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::lte::{Channels, LteUe, Motion, Place};
use crate::model::{AccessKind, Lte, NodeKind, Placement};
use crate::names::Names;
use crate::plain;
use crate::problems::Problems;
use crate::profile;
use crate::tree::Table;

/// The most component carriers of a UE (TS 36.331: maxServCell-r10).
const MOST_CARRIERS: usize = 5;

/// Reads a normal `[access]`; `ues` are those that are listed one by one, `ways` the paths of
/// moving ones, and `channels` their channel traces.
pub(crate) fn read(
    access: &mut Table,
    span: Span,
    names: &Names<'_>,
    ues: Vec<LteUe>,
    ways: Vec<Vec<Place>>,
    channels: Channels,
    problems: &mut Problems,
) -> Option<AccessKind> {
    profile::mark_defaults("access", access, problems.catalogue);
    // Asked of the tree, so that it holds too where a carrier was refused.
    let carriers = access.tables("carrier").len();
    if !(1..=MOST_CARRIERS).contains(&carriers) {
        let message = format!("access has {carriers} carriers");
        let label = format!("a UE uses 1 to {MOST_CARRIERS} (TS 36.331)");
        let place = access.place("carrier", span);
        problems.error(Code::BeyondLte, place, message, label);
    }
    for node in names.of_kind(NodeKind::Enodeb) {
        let node = &names.network.nodes[node];
        if node.position.is_none() {
            let message = format!("the eNodeB \"{}\" has no position", node.id);
            problems.error(
                Code::NoPosition,
                span,
                message,
                "give it x and y in the graph",
            );
            return None;
        }
    }
    Some(AccessKind::Lte(Box::new(Lte {
        values: plain::values(access),
        spread: access.quantity("spread")?,
        ues,
        ways,
        channel: channels.of_all,
        channels: channels.traces,
        fading: channels.fading,
    })))
}

/// Resource blocks of the widest carrier (TS 36.101 table 5.6-1).
pub(crate) fn most_blocks(access: &Table) -> usize {
    let blocks = |bandwidth: &str| match bandwidth {
        "1.4 MHz" => 6,
        "3 MHz" => 15,
        "5 MHz" => 25,
        "10 MHz" => 50,
        "15 MHz" => 75,
        _ => 100,
    };
    let carriers = access.tables("carrier");
    let widths = carriers
        .iter()
        .filter_map(|(carrier, _)| carrier.text("bandwidth"));
    widths.map(blocks).max().unwrap_or(100)
}

/// The UEs that are listed one by one, each with the eNodeB that it belongs to; `None` where
/// there are none or one was refused.
pub(crate) fn listed(
    access: &Table,
    span: Span,
    names: &Names<'_>,
    ways: &[Vec<Place>],
    problems: &mut Problems,
) -> Option<(Vec<LteUe>, Placement)> {
    let rows = access.tables("ue");
    for key in ["ues", "per_enodeb"] {
        if !rows.is_empty() && access.get(key).is_some() {
            let message = format!("UEs are listed one by one, and {key} is given");
            let place = access.place(key, span);
            problems.error(Code::BadUe, place, message, "leave one of them out");
            return None;
        }
    }
    let mut ways = ways.iter().enumerate();
    let found: Vec<_> = rows
        .into_iter()
        .map(|(row, span)| {
            if !problems.go_on() {
                return None;
            }
            let way = row.get("trace").and_then(|_| ways.next());
            match way {
                Some((number, way)) => walking(row, (number, way), names, problems),
                None => ue(row, span, names, problems),
            }
        })
        .collect();
    let (ues, nodes) = found
        .into_iter()
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .unzip();
    Some((ues, Placement::Listed(nodes)))
}

/// A UE that follows a trace, and the eNodeB nearest to it at the start.
fn walking(
    row: &Table,
    (number, way): (usize, &[Place]),
    names: &Names<'_>,
    problems: &mut Problems,
) -> Option<(LteUe, usize)> {
    let serving = enodeb(row, "serving", names, problems).ok()?;
    let others = [
        "near", "distance", "bearing", "x", "y", "speed", "heading", "until", "start",
    ];
    let given = |key: &&str| row.entry(key).filter(|entry| !entry.is_default);
    if let Some(entry) = others.iter().find_map(given) {
        let message = format!("the UE goes by a trace, and {} is given", entry.key);
        let label = "leave one of them out";
        problems.error(Code::BadUe, entry.item.span, message, label);
        return None;
    }
    let position_m = way.first()?.position_m;
    let nearest = nearest(names, position_m)?;
    let ue = LteUe {
        position_m,
        motion: None,
        way: Some(number),
        serving: serving.map(|(node, _)| node),
        channel: None,
    };
    Some((ue, serving.map_or(nearest, |(node, _)| node)))
}

/// A UE, and the eNodeB that it is near or nearest to.
fn ue(
    row: &Table,
    span: Span,
    names: &Names<'_>,
    problems: &mut Problems,
) -> Option<(LteUe, usize)> {
    let serving = enodeb(row, "serving", names, problems).ok()?;
    let near = enodeb(row, "near", names, problems).ok()?;
    let metres = |key: &str| row.quantity::<Length>(key).map(Length::as_m_f64);
    let mut refuse = |key: &str, message: &str, label: &str| {
        problems.error(Code::BadUe, row.place(key, span), message, label);
    };
    let stated = ["near", "distance", "x", "y"].map(|key| row.get(key).is_some());
    let position_m = match (stated, near) {
        ([true, true, false, false], Some((_, (x, y)))) => {
            let bearing = row
                .quantity::<Angle>("bearing")
                .unwrap_or_default()
                .as_rad_f64();
            let distance = metres("distance")?;
            (
                x + distance * libm::cos(bearing),
                y + distance * libm::sin(bearing),
            )
        }
        ([_, false, true, true], _) if row.get("bearing").is_none() => (metres("x")?, metres("y")?),
        _ => {
            let label = "write near and distance (and bearing), or x and y, or trace";
            refuse("near", "the UE has no place, or two", label);
            return None;
        }
    };
    let motion = match row.quantity::<Speed>("speed").map(Speed::as_m_per_s_f64) {
        None | Some(0.0) => {
            for key in ["heading", "until"] {
                if row.get(key).is_some() {
                    refuse(key, "the UE has a way and no speed", "add `speed = …`");
                    return None;
                }
            }
            None
        }
        Some(speed) => Some(motion(
            row,
            speed,
            position_m,
            near.map(|near| near.1),
            refuse,
        )?),
    };
    let nearest = nearest(names, position_m)?;
    let ue = LteUe {
        position_m,
        motion,
        way: None,
        serving: serving.map(|(node, _)| node),
        channel: None,
    };
    let belongs = serving.or(near).map_or(nearest, |(node, _)| node);
    Some((ue, belongs))
}

/// The way of a UE.
fn motion(
    row: &Table,
    speed_m_per_s: f64,
    (x, y): (f64, f64),
    near: Option<(f64, f64)>,
    mut refuse: impl FnMut(&str, &str, &str),
) -> Option<Motion> {
    let until = row.quantity::<Length>("until").map(Length::as_m_f64);
    let sign = match row.text("heading") {
        Some("outward") => Some(1.0),
        Some("inward") => Some(-1.0),
        Some(_) => None,
        None => {
            let label = "add `heading = …`: \"outward\", \"inward\" or an angle";
            refuse("speed", "the UE has a speed and no heading", label);
            return None;
        }
    };
    let (east, north, time) = if let Some(sign) = sign {
        let Some((from_x, from_y)) = near else {
            let label = "add `near = …`: the eNodeB that it counts from";
            refuse("heading", "the heading counts from no eNodeB", label);
            return None;
        };
        let (dx, dy) = (x - from_x, y - from_y);
        let distance = (dx * dx + dy * dy).sqrt();
        // At the eNodeB itself every direction leads outward.
        let (east, north) = if distance > 0.0 {
            (sign * dx / distance, sign * dy / distance)
        } else {
            let bearing = row
                .quantity::<Angle>("bearing")
                .unwrap_or_default()
                .as_rad_f64();
            (libm::cos(bearing), libm::sin(bearing))
        };
        let way = until.map(|until| sign * (until - distance));
        if way.is_some_and(|way| way <= 0.0) {
            let message = "the UE is already beyond the distance at which it stops";
            refuse("until", message, "write a distance that lies ahead of it");
            return None;
        }
        (
            east,
            north,
            way.map(|way| Duration::from_secs_f64(way / speed_m_per_s)),
        )
    } else {
        if until.is_some() {
            let label = "remove it, or write heading = \"outward\" or \"inward\"";
            refuse("until", "until needs a heading from or to an eNodeB", label);
            return None;
        }
        let heading = row.quantity::<Angle>("heading")?.as_rad_f64();
        (libm::cos(heading), libm::sin(heading), None)
    };
    Some(Motion {
        velocity_m_per_s: (speed_m_per_s * east, speed_m_per_s * north),
        start: row.quantity("start")?,
        time,
    })
}

/// An eNodeB with its position in metres.
type Enodeb = (usize, (f64, f64));

/// A problem was reported.
struct Refused;

/// The eNodeB that a key names, if it exists.
fn enodeb(
    row: &Table,
    key: &str,
    names: &Names<'_>,
    problems: &mut Problems,
) -> Result<Option<Enodeb>, Refused> {
    let Some(item) = row.get(key) else {
        return Ok(None);
    };
    let name = item.as_text().unwrap_or_default();
    let Some(&index) = names.ids.get(name) else {
        let message = format!("there is no node \"{name}\"");
        problems.error(
            Code::UnknownNode,
            item.span,
            message,
            names.suggestion(name),
        );
        return Err(Refused);
    };
    let node = &names.network.nodes[index];
    if node.kind != NodeKind::Enodeb {
        let message = format!("\"{name}\" is not an eNodeB");
        let label = "name a node of kind \"enodeb\"";
        problems.error(Code::NotEnodeb, item.span, message, label);
        return Err(Refused);
    }
    let Some((x, y)) = node.position else {
        let message = format!("the eNodeB \"{name}\" has no position");
        let label = "give it x and y in the graph";
        problems.error(Code::NoPosition, item.span, message, label);
        return Err(Refused);
    };
    Ok(Some((index, (x.as_m_f64(), y.as_m_f64()))))
}

/// The eNodeB nearest to a place.
fn nearest(names: &Names<'_>, (x, y): (f64, f64)) -> Option<usize> {
    let distance = |index: &usize| {
        let (east, north) = names.network.nodes[*index].position.unwrap_or_default();
        let (dx, dy) = (east.as_m_f64() - x, north.as_m_f64() - y);
        dx * dx + dy * dy
    };
    let enodebs = names.of_kind(NodeKind::Enodeb).into_iter();
    enodebs.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
