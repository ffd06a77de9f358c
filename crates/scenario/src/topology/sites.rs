//! Sites placed by a CSV file, and links between placed sites.

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::Length;

use super::network::{Network, Placed, too_many};
use super::positions::Positions;
use super::rules::{self, Extra, Links};
use super::template::{Template, check_wire, template};
use crate::codes::Code;
use crate::csv::Csv;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{Link, NodeKind};
use crate::problems::Problems;
use crate::shown;
use crate::spec::nearest;
use crate::spec::tables::MOST_NODES;
use crate::tree::Table;
use crate::values::is_id;

/// The farthest coordinate in metres: 100 000 km.
const FARTHEST_M: f64 = 1e8;

/// Sites, each with the place that names it.
pub(super) struct Sites {
    pub(super) names: Vec<(String, Span)>,
    pub(super) positions: Positions,
}

/// Reads the sites. Every problem of the file is reported, and the result is then `None`, so that
/// an omitted site causes no further problems.
fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Sites> {
    let before = problems.error_count();
    let csv = Csv::read(text, source, problems);
    let id = csv.column("id", problems)?;
    let geographic = csv.find("latitude_deg").is_some() || csv.find("x_m").is_none();
    let (first, second) = if geographic {
        ("latitude_deg", "longitude_deg")
    } else {
        ("x_m", "y_m")
    };
    let columns = (csv.column(first, problems), csv.column(second, problems));
    let (Some(first_column), Some(second_column)) = columns else {
        return None;
    };
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    let mut positions = Vec::new();
    for row in &csv.rows {
        if !problems.go_on() {
            break;
        }
        let (name, span) = row.text(id);
        if !is_id(&name) {
            let message = "the id cannot be a name";
            problems.error(
                Code::BadName,
                span,
                message,
                "use 1 to 64 letters, digits, '-', '_' and '.'",
            );
        } else if !seen.insert(name.clone()) {
            let message = format!("there are two sites \"{name}\"");
            problems.error(
                Code::CsvDuplicate,
                span,
                message,
                "give one of them another id",
            );
            continue;
        }
        let bounds = if geographic {
            (90.0, 180.0)
        } else {
            (FARTHEST_M, FARTHEST_M)
        };
        let position = (
            row.number(first_column, first, bounds.0, problems),
            row.number(second_column, second, bounds.1, problems),
        );
        if let (Some(a), Some(b)) = position {
            names.push((name.into_owned(), span));
            positions.push((a, b));
        }
    }
    if csv.rows.is_empty() {
        problems.error(
            Code::CsvEmpty,
            csv.header_span(),
            "the file has no sites",
            "add a row for each site",
        );
        return None;
    }
    let positions = if geographic {
        Positions::Geographic(positions)
    } else {
        Positions::Plane(positions)
    };
    (problems.error_count() == before).then_some(Sites { names, positions })
}

/// The number of sites in a file.
pub(crate) fn count(source: usize, text: &str, problems: &mut Problems) -> usize {
    read(source, text, problems).map_or(0, |sites| sites.names.len())
}

/// Recorded links: their ends and, if known, their lengths in metres.
fn recorded(
    source: usize,
    text: &str,
    sites: &Sites,
    problems: &mut Problems,
) -> Option<Vec<(usize, usize, Option<f64>)>> {
    let csv = Csv::read(text, source, problems);
    let (a, b) = (
        csv.column("site_a", problems),
        csv.column("site_b", problems),
    );
    let (a, b) = (a?, b?);
    let length = csv.find("length_km");
    let index: BTreeMap<&str, usize> = sites
        .names
        .iter()
        .enumerate()
        .map(|(index, (name, _))| (name.as_str(), index))
        .collect();
    let mut links = Vec::new();
    for row in &csv.rows {
        if !problems.go_on() {
            break;
        }
        let mut end = |column: usize| {
            let (name, span) = row.text(column);
            let found = index.get(&*name).copied();
            if found.is_none() {
                let name = shown::short(&name);
                let label = nearest(&name, index.keys().copied()).map_or_else(
                    || "add it to the sites".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                problems.error(
                    Code::CsvSite,
                    span,
                    format!("there is no site \"{name}\""),
                    label,
                );
            }
            found
        };
        let ends = (end(a), end(b));
        let length_m = match length {
            Some(column) if !row.text(column).0.is_empty() => {
                let length_m = row
                    .number(column, "length_km", FARTHEST_M / 1e3, problems)
                    .map(|km| km * 1e3);
                if length_m.is_some_and(|length_m| length_m < 0.0) {
                    let (text, span) = row.text(column);
                    let message = format!("length_km is {text}");
                    let label = "write a length of 0 or more, or leave the field empty";
                    problems.error(Code::CsvRange, span, message, label);
                }
                // Minus zero is zero.
                length_m.map(f64::abs)
            }
            _ => None,
        };
        if let (Some(a), Some(b)) = ends {
            if a == b {
                problems.error(
                    Code::SelfLink,
                    row.text(0).1,
                    "the link joins a site to itself",
                    "name two sites",
                );
            } else {
                links.push((a, b, length_m));
            }
        }
    }
    Some(links)
}

/// Builds the network of sites that a file places.
pub(super) fn build(table: &Table, files: &mut Files, problems: &mut Problems) -> Option<Network> {
    let span = table.place("file", Span::default());
    let (source, text) = files.text(table.text("file")?, span, problems)?;
    let sites = read(source, &text, problems)?;
    joined(&sites, table, span, files, problems)
}

/// The template of the links; it may only be left out where there are none.
fn link_template(table: &Table, rule: &Table, problems: &mut Problems) -> Template {
    if table.get("link").is_none() && rule.text("rule") != Some("none") {
        let place = table.place("links", Span::default());
        let message = "topology link is missing";
        problems.error(Code::MissingKey, place, message, "add `link = …`: a table");
    }
    template(table)
}

/// Links, and the lengths in metres of those whose length is not the distance of their ends.
type Measured = (Links, BTreeMap<(usize, usize), f64>);

/// The links of a file.
fn recorded_links(
    rule: &Table,
    sites: &Sites,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Measured> {
    let span = rule.place("file", Span::default());
    let (source, text) = files.text(rule.text("file")?, span, problems)?;
    let (mut links, mut lengths) = (Links::new(), BTreeMap::new());
    for (a, b, length_m) in recorded(source, &text, sites, problems)? {
        let ends = (a.min(b), a.max(b));
        if let Some(length_m) = length_m {
            lengths.insert(ends, length_m);
        }
        links.push(ends);
    }
    Some((links, lengths))
}

/// The links that a rule gives.
fn links(
    rule: &Table,
    sites: &Sites,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Measured> {
    let positions = &sites.positions;
    let by_rule = match rule.text("rule")? {
        "k-nearest" => rules::k_nearest(positions, rule.integer("k")?, problems),
        "gabriel" => rules::gabriel(positions, problems),
        "none" => Links::new(),
        "mst" => {
            let cap = rule.integer("degree_cap")?;
            let mut links = rules::capped_mst(positions, cap, problems);
            let extra = Extra {
                degree: rule.integer("extra_degree")?,
                longest_m: rule.quantity("extra_length").map(Length::as_m_f64),
                ..Extra::default()
            };
            rules::add_extra(&mut links, positions, &extra, problems);
            links
        }
        _ => return recorded_links(rule, sites, files, problems),
    };
    Some((by_rule, BTreeMap::new()))
}

/// Joins the pieces of a network, with a warning.
fn connect(links: &mut Links, positions: &Positions, span: Span, problems: &mut Problems) {
    let added = rules::connect(links, positions, problems);
    if added.is_empty() {
        return;
    }
    let message = match added.len() {
        1 => "a link was added to join the pieces of the network".to_owned(),
        count => format!("{count} links were added to join the pieces of the network"),
    };
    let label = "write connect = false to refuse such a network";
    problems.warning(Code::Joined, span, message, label);
}

/// The network of some sites, joined by the rule of a section that names or draws them at `span`.
pub(super) fn joined(
    sites: &Sites,
    table: &Table,
    span: Span,
    files: &mut Files,
    problems: &mut Problems,
) -> Option<Network> {
    let count = sites.names.len();
    if count > MOST_NODES as usize {
        too_many(span, count as u64, problems);
        return None;
    }
    let rule = table.table("links")?;
    let rule_span = table.place("links", span);
    let template = link_template(table, rule, problems);
    let positions = &sites.positions;
    let (mut links, lengths) = links(rule, sites, files, problems)?;
    if rule.text("rule")? != "none" && rule.boolean("connect")? {
        connect(&mut links, positions, rule_span, problems);
    }
    if links.len() > MOST_NODES as usize {
        too_many(rule_span, links.len() as u64, problems);
        return None;
    }
    let mut network = Network::default();
    for ((id, span), (x, y)) in sites.names.iter().zip(positions.plane()) {
        let position = Some((Length::from_m_f64(x), Length::from_m_f64(y)));
        network.nodes.push(Placed {
            id: id.clone(),
            kind: NodeKind::Enodeb,
            position,
            channels: None,
            radios: None,
            span: *span,
        });
    }
    let mut shortest: Option<Link> = None;
    let delay = |link: &Link| link.wire().map(|wire| wire.delay);
    for (a, b) in links {
        if !problems.go_on() {
            return None;
        }
        let length_m = lengths.get(&(a, b)).copied();
        let length_m = length_m.unwrap_or_else(|| positions.distance_m(a, b));
        let link = template.link(a, b, Some(length_m));
        if shortest
            .as_ref()
            .is_none_or(|shortest| delay(&link) < delay(shortest))
        {
            shortest = Some(link.clone());
        }
        network.links.push((link, template.span));
    }
    if let Some(link) = shortest {
        check_wire(&link, &template, problems);
    }
    Some(network)
}
