//! The answer to each request.

use std::collections::BTreeMap;

use backlane_scenario::model::Medium;
use backlane_scenario::{Diagnostic, MODEL_VERSION, Options, Report, Stopped, contender_keys};
use backlane_stats::Interval;
use backlane_world::units::SimTime;
use backlane_world::{
    Described, Interrupt, Models, Outcome, Supplied, World, catalogue, estimate, slotted,
};
use serde_json::{Map, Number, Value, json};

use crate::Page;
use crate::problems::Problem;
use crate::request::{Contender, File, MOST_FILES_BYTES, MOST_MEMORY_BYTES, Request};
use crate::tables::{integer, table};

/// The answer to a request: `{"ok": …}`, or `{"error": {code, message, help}, "diagnostics": […]}`,
/// where the diagnostics are the places in the scenario file, if there are any.
pub fn answer(request: &str, page: &mut dyn Page) -> String {
    let answered = match serde_json::from_str(request) {
        Ok(request) => answered(request, page),
        Err(error) => Err(Problem::request(&error.to_string()).into()),
    };
    match answered {
        Ok(value) => json!({ "ok": value }).to_string(),
        Err(Refused(value)) => value.to_string(),
    }
}

/// An answer that is an error.
struct Refused(Value);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(json!({ "error": problem, "diagnostics": [] }))
    }
}

impl From<Report> for Refused {
    fn from(report: Report) -> Self {
        let first = report.diagnostics.first();
        let error = json!({
            "code": first.map(|first| first.code),
            "message": first.map(|first| first.message.as_str()),
            "help": first.and_then(|first| first.help.as_deref().or(first.label.as_deref())),
        });
        Self(json!({ "error": error, "diagnostics": diagnostics(&report.diagnostics) }))
    }
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused(report) => report.into(),
            Stopped::Interrupted => Problem::stopped().into(),
        }
    }
}

fn answered(request: Request, page: &mut dyn Page) -> Result<Value, Refused> {
    match request {
        Request::About => Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "model_version": MODEL_VERSION,
            "templates": backlane_scenario::template_names()
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>(),
            "most_files_bytes": MOST_FILES_BYTES,
        })),
        Request::Schema => serde_json::from_str(&backlane_scenario::schema(catalogue()))
            .map_err(|error| Problem::request(&error.to_string()).into()),
        Request::Explain { code } => {
            let own = Problem::explanation(&code).map(str::to_owned);
            Ok(own.or_else(|| backlane_scenario::explain(&code)).into())
        }
        Request::Template { name } => match backlane_scenario::template(catalogue(), &name) {
            Some(template) => Ok(json!({
                "text": template.text,
                "files": template.files.iter().copied().collect::<BTreeMap<_, _>>(),
            })),
            None => Err(Problem::request(&format!("no template \"{name}\"")).into()),
        },
        Request::Check(file) => check(file),
        Request::Plan(file) => plan(file),
        Request::Network { resolved } => network(&resolved),
        Request::Rank {
            contenders,
            equal_within,
            more,
            limits,
        } => rank(contenders, equal_within, more, limits),
        Request::Run {
            resolved,
            seed,
            series,
        } => run(&resolved, seed_of(&seed)?, series, page),
    }
}

fn seed_of(text: &str) -> Result<u64, Refused> {
    let seed = text.parse().ok();
    seed.ok_or_else(|| Problem::request(&format!("the seed \"{text}\" is no whole number")).into())
}

/// How the file is read; attached files are all in memory.
fn options(file: &mut File) -> Result<Options<'_>, Refused> {
    let bytes: usize = file.files.values().map(String::len).sum();
    if bytes > MOST_FILES_BYTES {
        return Err(Problem::files(bytes, MOST_FILES_BYTES).into());
    }
    Ok(Options {
        seed: file.seed.as_deref().map(seed_of).transpose()?,
        texts: Some(std::mem::take(&mut file.files)),
        overrides: &file.overrides,
        ..Options::default()
    })
}

fn check(mut file: File) -> Result<Value, Refused> {
    let (text, name) = (
        std::mem::take(&mut file.text),
        std::mem::take(&mut file.name),
    );
    let warnings = catalogue().check_with(&text, &name, options(&mut file)?)?;
    Ok(json!({ "warnings": diagnostics(&warnings) }))
}

fn plan(mut file: File) -> Result<Value, Refused> {
    let (text, name) = (
        std::mem::take(&mut file.text),
        std::mem::take(&mut file.name),
    );
    let plan = catalogue().plan_with(&text, &name, options(&mut file)?)?;
    if let Some(control) = plan.custom_controls.first() {
        return Err(Problem::python(&control.name).into());
    }
    if let Some(router) = plan.python_routers.first() {
        return Err(Problem::python(&router.class.class).into());
    }
    let mut cells = Vec::with_capacity(plan.cells.len());
    for cell in &plan.cells {
        let described = catalogue().described(&cell.resolved)?;
        let cost = estimate(&described);
        if cost.memory_bytes as f64 > MOST_MEMORY_BYTES {
            return Err(Problem::too_large(cost.memory_bytes as f64, MOST_MEMORY_BYTES).into());
        }
        cells.push(json!({
            "index": cell.index,
            "parameters": cell.parameters,
            "resolved": cell.resolved,
            "hash": cell.hash,
            "estimate": {
                "cpu_s": cost.cpu_s,
                "memory_bytes": integer(cost.memory_bytes),
                "events": integer(cost.events),
                "simulated_s": cost.simulated_s,
            },
        }));
    }
    let runs: Vec<Value> = (plan.runs.iter())
        .map(|run| json!({ "run_id": run.run_id, "cell": run.cell, "seed": run.seed.to_string() }))
        .collect();
    let named = plan
        .compare
        .as_ref()
        .map_or_else(Vec::new, |compare| compare.keys.clone());
    let seeds: Vec<String> = plan.seeds.iter().map(u64::to_string).collect();
    Ok(json!({
        "name": plan.name,
        "scenario_hash": plan.scenario_hash,
        "model_version": plan.model_version,
        "parameters": plan.parameters,
        "choices": contender_keys(&plan.parameters, &named),
        "equal_within": plan.compare.as_ref().and_then(|compare| compare.equal_within),
        "cells": cells,
        "seeds": seeds,
        "runs": runs,
        "warnings": diagnostics(&plan.warnings),
    }))
}

fn network(resolved: &str) -> Result<Value, Refused> {
    let Described::Network(scenario) = catalogue().described(resolved)? else {
        return Ok(json!({ "nodes": [], "links": [] }));
    };
    let nodes: Vec<Value> = (scenario.nodes.iter())
        .map(|node| json!({ "id": node.id, "kind": node.kind.name(), "position_m": node.position_m }))
        .collect();
    let links: Vec<Value> = (scenario.links.iter())
        .map(|link| {
            let rate = match &link.medium {
                Medium::Wire(wire) => Some(integer(wire.rate.as_bps())),
                Medium::Wifi(_) => None,
            };
            json!({ "a": link.a, "b": link.b, "rate_bps": rate })
        })
        .collect();
    Ok(json!({ "nodes": nodes, "links": links }))
}

/// Standings, best first, each with its interval. Where more is better, the values are ranked
/// with their sign turned.
fn rank(
    contenders: Vec<Contender>,
    equal_within: f64,
    more: bool,
    limits: Option<(f64, f64)>,
) -> Result<Value, Refused> {
    let sign = if more { -1.0 } else { 1.0 };
    let mut turned = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let values = contender.values.into_iter();
        let values: Result<BTreeMap<u64, f64>, Refused> = values
            .map(|(seed, value)| Ok((seed_of(&seed)?, sign * value)))
            .collect();
        turned.push((contender.name, values?));
    }
    let limits = limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let number = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::from);
    let interval = |of: &Interval, (least, most): (f64, f64)| {
        let (low, high) = if more {
            (-of.high, -of.low)
        } else {
            (of.low, of.high)
        };
        json!({
            "mean": number(sign * of.mean),
            "low": number(low.max(least)),
            "high": number(high.min(most)),
            "count": of.count,
            "method": of.method.name(),
        })
    };
    let wide = (f64::NEG_INFINITY, f64::INFINITY);
    let standings = backlane_stats::rank(&turned, equal_within);
    let rows = standings.iter().map(|one| {
        json!({
            "name": one.name,
            "value": interval(&one.value, limits),
            "behind": one.behind.as_ref().map(|behind| interval(behind, wide)),
            "verdict": one.verdict.outcome.name(),
            "p_value": number(one.verdict.p_value),
            "seeds_needed": one.verdict.seeds_needed,
        })
    });
    Ok(rows.collect())
}

fn run(resolved: &str, seed: u64, series: bool, page: &mut dyn Page) -> Result<Value, Refused> {
    let described = catalogue().described_for(resolved, seed)?;
    let outcome = match &described {
        Described::Network(scenario) => {
            if let Some(control) = scenario.custom_controls.first() {
                return Err(Problem::python(&control.name).into());
            }
            if let Some(router) = &scenario.python_router {
                return Err(Problem::python(&router.class.class).into());
            }
            let duration_s = (scenario.warm_up.saturating_add(scenario.duration)).as_secs_f64();
            let mut watch = |now: SimTime, events| {
                let goes_on = page.progress(now.as_secs_f64(), duration_s, events);
                goes_on.then_some(()).ok_or(Interrupt)
            };
            let models = Models::standard();
            World::watched(
                models,
                Supplied::default(),
                scenario,
                seed,
                None,
                &mut watch,
            )
            .map(|built| built.and_then(|world| world.run(&mut watch)))
        }
        Described::Slotted(model) => {
            let slots = slotted::config(model).map_or(0.0, |config| config.total_slots() as f64);
            let watch = |now: u64| {
                let goes_on = page.progress(now as f64, slots, now);
                goes_on.then_some(()).ok_or(Interrupt)
            };
            slotted::run(model, seed, watch, None)
        }
    };
    match outcome {
        Ok(Ok(outcome)) => Ok(finished(outcome, series)),
        Ok(Err(Interrupt)) => Err(Problem::stopped().into()),
        Err(error) => Err(Problem::failed(&error.to_string()).into()),
    }
}

fn finished(mut outcome: Outcome, series: bool) -> Value {
    let from = &outcome.summary;
    let dropped: Map<String, Value> = (from.dropped_by_cause.iter())
        .map(|(cause, count)| ((*cause).to_owned(), integer(*count)))
        .collect();
    let summary = json!({
        "simulated_s": from.simulated_s,
        "traffic_s": from.traffic_s,
        "events": integer(from.events),
        "packets_injected": integer(from.packets_injected),
        "packets_delivered": integer(from.packets_delivered),
        "dropped_by_cause": dropped,
        "delivered_bytes": from.delivered_bytes.map(integer),
        "packet_hops": integer(from.packet_hops),
        "digest": format!("{:016x}", from.digest),
        "ended": from.ended.name(),
    });
    let by_name = |tables: Vec<(&'static str, _)>| -> Map<String, Value> {
        tables
            .iter()
            .map(|(name, one)| ((*name).to_owned(), table(one)))
            .collect()
    };
    let recorded = std::mem::take(&mut outcome.series);
    let recorded = if series {
        by_name(recorded)
    } else {
        Map::new()
    };
    let tables = by_name(outcome.tables().collect());
    json!({ "summary": summary, "tables": tables, "series": recorded })
}

fn diagnostics(list: &[Diagnostic]) -> Value {
    let each = |one: &Diagnostic| {
        let mut value = serde_json::to_value(one).unwrap_or_default();
        value["rendered"] = one.to_string().into();
        value
    };
    list.iter().map(each).collect()
}
