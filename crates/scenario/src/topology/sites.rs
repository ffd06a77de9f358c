//! Sites placed by a CSV file.
//!
//! Geographic positions are put on a plane by the equirectangular projection about the middle of
//! the sites, for maps; lengths of links are great-circle lengths (haversine) on a sphere of the
//! mean earth radius, so that they do not suffer from the projection.

use std::collections::{BTreeMap, BTreeSet};

use backlane_units::Length;

use super::network::{Network, Placed, too_many};
use super::rules::{self, Links};
use super::template::{Template, check_queue, template};
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

/// Mean earth radius (IUGG: (2a + b)/3 of WGS 84), in metres.
const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// The farthest coordinate in metres: 100 000 km.
const FARTHEST_M: f64 = 1e8;

/// Sorting all pairs of sites bounds what is reasonable.
const MOST_SITES: usize = 4_000;

/// Where the sites are.
enum Positions {
    /// Latitude and longitude, in degrees.
    Geographic(Vec<(f64, f64)>),
    /// East and north, in metres.
    Plane(Vec<(f64, f64)>),
}

impl Positions {
    /// The distance of two sites, in metres.
    fn distance_m(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Geographic(sites) => haversine_m(sites[a], sites[b]),
            Self::Plane(sites) => {
                let (dx, dy) = (sites[a].0 - sites[b].0, sites[a].1 - sites[b].1);
                (dx * dx + dy * dy).sqrt()
            }
        }
    }

    /// The sites by where they are, each list in their order, the lists in the order of their first.
    fn places(&self) -> Vec<Vec<usize>> {
        let (Self::Geographic(sites) | Self::Plane(sites)) = self;
        let mut places: Vec<Vec<usize>> = Vec::new();
        let mut known = BTreeMap::new();
        for (site, (first, second)) in sites.iter().enumerate() {
            let position = (first.to_bits(), second.to_bits());
            let place = *known.entry(position).or_insert(places.len());
            if place == places.len() {
                places.push(Vec::new());
            }
            places[place].push(site);
        }
        places
    }

    /// The sites on a plane, in metres.
    fn plane(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Plane(sites) => sites.clone(),
            Self::Geographic(sites) => {
                let middle = |values: &dyn Fn(&(f64, f64)) -> f64| {
                    let low = sites.iter().map(values).fold(f64::INFINITY, f64::min);
                    let high = sites.iter().map(values).fold(f64::NEG_INFINITY, f64::max);
                    f64::midpoint(low, high)
                };
                let (latitude, longitude) = (middle(&|site| site.0), middle(&|site| site.1));
                let shrink = libm::cos(latitude.to_radians());
                sites
                    .iter()
                    .map(|site| {
                        let east = (site.1 - longitude).to_radians() * shrink * EARTH_RADIUS_M;
                        let north = (site.0 - latitude).to_radians() * EARTH_RADIUS_M;
                        (east, north)
                    })
                    .collect()
            }
        }
    }
}

/// Great-circle distance of two points given by latitude and longitude in degrees.
fn haversine_m(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |degrees: f64| libm::sin(degrees.to_radians() / 2.0);
    let (north, east) = (half(b.0 - a.0), half(b.1 - a.1));
    let shrink = libm::cos(a.0.to_radians()) * libm::cos(b.0.to_radians());
    let h = (north * north + shrink * east * east).min(1.0);
    2.0 * EARTH_RADIUS_M * libm::asin(h.sqrt())
}

/// The sites of a file.
struct Sites {
    names: Vec<(String, Span)>,
    positions: Positions,
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

/// The template of the links; it may only be left out where there are none.
fn link_template(table: &Table, rule: &Table, problems: &mut Problems) -> Template {
    if table.get("link").is_none() && rule.text("rule") != Some("none") {
        let place = table.place("links", Span::default());
        let message = "topology link is missing";
        problems.error(Code::MissingKey, place, message, "add `link = …`: a table");
    }
    template(table)
}

/// Builds the network.
pub(super) fn build(table: &Table, files: &mut Files, problems: &mut Problems) -> Option<Network> {
    let file_span = table.place("file", Span::default());
    let (source, text) = files.text(table.text("file")?, file_span, problems)?;
    let sites = read(source, &text, problems)?;
    let nodes = sites.names.len();
    let rule = table.table("links")?;
    let rule_span = table.place("links", file_span);
    let template = link_template(table, rule, problems);
    let distance = |a: usize, b: usize| sites.positions.distance_m(a, b);
    let name = rule.text("rule")?;
    if nodes > MOST_SITES && name != "recorded" {
        let message = format!("the rule would look at all pairs of {nodes} sites");
        problems.error(
            Code::TooManyNodes,
            rule_span,
            message,
            format!(
                "at most {MOST_SITES} sites are possible; list their links with rule = \"recorded\""
            ),
        );
        return None;
    }
    let mut lengths = BTreeMap::new();
    let mut links = match name {
        "k-nearest" => rules::k_nearest(nodes, rule.integer("k")?, &distance, problems),
        "gabriel" => rules::gabriel(&sites.positions.places(), &distance, problems),
        "none" => Links::new(),
        "mst" => {
            let cap = rule.integer("degree_cap")?;
            let mut links = rules::capped_mst(nodes, cap, &distance, problems);
            rules::add_extra(
                &mut links,
                nodes,
                rule.integer("extra_degree")?,
                usize::MAX,
                None,
                &distance,
                problems,
            );
            links
        }
        _ => {
            let span = rule.place("file", rule_span);
            let (source, text) = files.text(rule.text("file")?, span, problems)?;
            let mut links = Links::new();
            for (a, b, length_m) in recorded(source, &text, &sites, problems)? {
                let ends = (a.min(b), a.max(b));
                if let Some(length_m) = length_m {
                    lengths.insert(ends, length_m);
                }
                links.push(ends);
            }
            links
        }
    };
    if name != "none" && rule.boolean("connect")? && nodes <= MOST_SITES {
        let added = rules::connect(&mut links, nodes, &distance, problems);
        if !added.is_empty() {
            let count = added.len();
            let message = match count {
                1 => "a link was added to join the pieces of the network".to_owned(),
                _ => format!("{count} links were added to join the pieces of the network"),
            };
            problems.warning(
                Code::Joined,
                rule_span,
                message,
                "write connect = false to refuse such a network",
            );
        }
    }
    if links.len() > MOST_NODES as usize {
        too_many(rule_span, links.len() as u64, problems);
        return None;
    }
    let mut network = Network::default();
    for ((id, span), (x, y)) in sites.names.iter().zip(sites.positions.plane()) {
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
        let length_m = lengths
            .get(&(a, b))
            .copied()
            .unwrap_or_else(|| distance(a, b));
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
        check_queue(&link, &template, problems);
    }
    Some(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_of_latitude_is_111_195_metres() {
        assert!((haversine_m((50.0, 8.0), (51.0, 8.0)) - 111_195.08).abs() < 0.01);
        assert!((haversine_m((0.0, 179.5), (0.0, -179.5)) - 111_195.08).abs() < 0.01);
    }

    #[test]
    fn the_plane_keeps_short_distances() {
        let positions = Positions::Geographic(vec![(50.44, 50.84), (50.38, 50.81)]);
        let plane = positions.plane();
        let (dx, dy) = (plane[0].0 - plane[1].0, plane[0].1 - plane[1].1);
        let flat = (dx * dx + dy * dy).sqrt();
        assert!((flat / positions.distance_m(0, 1) - 1.0).abs() < 1e-5);
    }
}
