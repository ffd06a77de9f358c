//! The access network: the UEs, their eNodeBs, and the links between them.

use backlane_units::Bytes;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::lte;
use crate::model::lte::{Channels, LteUe, Place};
use crate::model::{
    Access, AccessKind, AtEnd, Capacity, DeclaredAccess, IdealAccess, NodeKind, Placement,
    TraceAccess,
};
use crate::names::Names;
use crate::normal;
use crate::plain;
use crate::problems::Problems;
use crate::shown::short;
use crate::spec::tables;
use crate::topology;
use crate::traces::Traces;
use crate::tree::{Entry, Item, Table, Value};

/// Reads the access network of a normal tree, and writes the number of UEs into it.
pub(crate) fn read(
    tree: &mut Table,
    names: &mut Names<'_>,
    traces: &mut Traces,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Access> {
    let span = tree.place("access", Span::default());
    let Some(Value::Table(table)) = tree.get_mut("access").map(|item| &mut item.value) else {
        return None;
    };
    let is_lte = table.text("kind")? == "lte";
    let is_listed = is_lte && table.get("ue").is_some();
    let mut ways = Vec::new();
    let (mut listed, (ues, placement)) = if is_listed {
        ways = self::ways(table, traces, files, problems)?;
        let (listed, placement) = lte::listed(table, span, names, &ways, problems)?;
        names.ues = listed.len();
        let ues = listed.len();
        (listed, (ues, placement))
    } else {
        (Vec::new(), attached(table, span, names, problems)?)
    };
    let kind = match table.text("kind")? {
        "lte" => {
            let channels = channels(table, &mut listed, traces, files, problems)?;
            lte::read(table, span, names, listed, ways, channels, problems)?
        }
        "trace" => AccessKind::Trace(Box::new(traced(table, span, traces, files, problems)?)),
        "ideal" => AccessKind::Ideal(ideal(table, span, problems)?),
        name => AccessKind::Declared(DeclaredAccess {
            name: name.to_owned(),
            values: plain::values(table),
        }),
    };
    Some(Access {
        ues,
        placement,
        kind,
    })
}

/// The cells of an ideal access.
fn ideal(table: &Table, span: Span, problems: &mut Problems) -> Option<IdealAccess> {
    let rate = table.quantity("rate")?;
    let queue_bytes = table.quantity::<Bytes>("queue")?.get();
    topology::check_waiting_time(queue_bytes, rate, table.place("queue", span), problems);
    Some(IdealAccess {
        rate,
        delay: table.quantity("delay")?,
        queue_bytes,
    })
}

/// The paths of those UEs of an LTE access that follow a trace, in their order.
fn ways(
    table: &Table,
    traces: &mut Traces,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Vec<Vec<Place>>> {
    let rows = table.tables("ue");
    let named = rows.iter().filter_map(|(row, _)| row.get("trace"));
    named
        .map(|item| traces.way(item.as_text()?, item.span, files, problems))
        .collect()
}

/// The channel traces of UEs; `ues` are those that are listed one by one.
fn channels(
    table: &Table,
    ues: &mut [LteUe],
    traces: &mut Traces,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Channels> {
    let fading = match table.get("fading_trace") {
        Some(item) => {
            let blocks = lte::most_blocks(table);
            let trace = traces.fading(item.as_table()?, item.span, blocks, files, problems)?;
            Some(trace)
        }
        None => None,
    };
    let is_faded = fading.is_some() || table.text("fading").is_some_and(|word| word != "none");
    let mut channels = Channels {
        fading,
        ..Channels::default()
    };
    let mut channel = |owner: &Table| -> Option<Option<usize>> {
        let Some(item) = owner.get("channel") else {
            return Some(None);
        };
        let section = item.as_table()?;
        let trace = traces.channel(section, item.span, files, problems)?;
        if trace.fades && !is_faded {
            let message = "the channel takes the fading of the access, which has none";
            let label = "write fading = \"eva\" in [access], or leave this out";
            let place = section.place("fading", item.span);
            problems.error(Code::TraceChoice, place, message, label);
            return None;
        }
        channels.traces.push(trace);
        Some(Some(channels.traces.len() - 1))
    };
    let of_all = channel(table)?;
    for (ue, (row, _)) in ues.iter_mut().zip(table.tables("ue")) {
        ue.channel = channel(row)?;
    }
    Some(Channels { of_all, ..channels })
}

/// The links of an access by traces.
fn traced(
    table: &Table,
    span: Span,
    traces: &mut Traces,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<TraceAccess> {
    let at_end = AtEnd::of(table.text("at_end")?);
    let at_end_span = table.place("at_end", span);
    let max_gap = table.quantity("max_gap")?;
    let mut known: Vec<&str> = Vec::new();
    let mut read: Vec<Option<Capacity>> = Vec::new();
    let mut indices = |key: &str, problems: &mut Problems| -> Vec<usize> {
        let mut indices = Vec::new();
        for (file, place) in table.texts(key) {
            if !problems.go_on() {
                break;
            }
            let index = known.iter().position(|known| *known == file);
            indices.push(index.unwrap_or(known.len()));
            if index.is_none() {
                known.push(file);
                let end = (at_end, at_end_span);
                read.push(traces.capacity(file, place, end, max_gap, files, problems));
            }
        }
        indices
    };
    let downlink = indices("downlink", problems);
    let uplink = indices("uplink", problems);
    let queue_span = table.place("queue", span);
    let Some(queue) = topology::queue_without_rate(table) else {
        // A queue that could not be read has been reported.
        if topology::queue(table).is_some() {
            let message = "a bandwidth-delay product needs a fixed rate";
            let label = "write a size or a number of packets, such as \"375 kB\"";
            problems.error(Code::BadQueue, queue_span, message, label);
        }
        return None;
    };
    Some(TraceAccess {
        shared: table.text("per")? == "enodeb",
        traces: read.into_iter().collect::<Option<_>>()?,
        downlink,
        uplink,
        at_end,
        delay: table.quantity("delay")?,
        queue,
    })
}

/// The number of UEs and where they attach.
fn attached(
    table: &mut Table,
    span: Span,
    names: &mut Names<'_>,
    problems: &mut Problems,
) -> Option<(usize, Placement)> {
    let enodebs = names.of_kind(NodeKind::Enodeb);
    let stated: Option<usize> = table.integer("ues");
    let placement = if let Some(map) = table.table("per_enodeb") {
        let listed = per_enodeb(map, names, problems)?;
        if stated.is_some_and(|ues| ues != listed.len()) {
            let place = table.place("ues", span);
            let message = format!("access ues is not the sum of per_enodeb, {}", listed.len());
            problems.error(
                Code::Range,
                place,
                message,
                format!("write {} or leave it out", listed.len()),
            );
            return None;
        }
        let ues = Item {
            value: Value::Integer(listed.len() as i64),
            span,
        };
        table.set("ues", span, ues);
        // The key may be new, and keys stand in the order of the table of keys.
        *table = normal::section(
            problems.catalogue.of(&tables::ACCESS),
            table,
            span,
            problems,
        );
        Placement::Listed(listed)
    } else if stated.is_none() {
        let has_ues = table.get("ues").is_some();
        if !has_ues {
            let message = "access ues is missing";
            problems.error(
                Code::MissingKey,
                span,
                message,
                "add `ues = …`: the number of UEs",
            );
        }
        return None;
    } else if table.text("placement")? == "random" {
        Placement::Random
    } else {
        Placement::RoundRobin
    };
    let ues = table.integer::<usize>("ues")?;
    names.ues = ues;
    if ues > tables::MOST_NODES as usize {
        let message = format!("there are {ues} UEs");
        problems.error(Code::Range, span, message, "at most a million are possible");
        return None;
    }
    if ues > 0 && enodebs.is_empty() {
        let message = "there is no eNodeB for the UEs";
        problems.error(
            Code::NoEnodeb,
            span,
            message,
            "give a node the kind \"enodeb\"",
        );
        return None;
    }
    Some((ues, placement))
}

/// The node of each UE where the file gives their number at each eNodeB.
fn per_enodeb(map: &Table, names: &Names<'_>, problems: &mut Problems) -> Option<Vec<usize>> {
    let mut listed = Vec::new();
    for Entry {
        key,
        key_span,
        item,
        ..
    } in &map.entries
    {
        let Value::Integer(count) = item.value else {
            continue;
        };
        match names.ids.get(key.as_str()) {
            None => {
                let message = format!("there is no node \"{}\"", short(key));
                problems.error(Code::UnknownNode, *key_span, message, names.suggestion(key));
            }
            Some(node) if names.network.nodes[*node].kind != NodeKind::Enodeb => {
                let message = format!("\"{}\" is not an eNodeB", short(key));
                problems.error(
                    Code::NotEnodeb,
                    *key_span,
                    message,
                    "name a node of kind \"enodeb\"",
                );
            }
            Some(node) => {
                let count = usize::try_from(count).unwrap_or(0);
                if listed.len() + count > tables::MOST_NODES as usize {
                    let message = "there are more than a million UEs";
                    problems.error(
                        Code::Range,
                        item.span,
                        message,
                        "at most a million are possible",
                    );
                    return None;
                }
                listed.extend(std::iter::repeat_n(*node, count));
            }
        }
    }
    Some(listed)
}
