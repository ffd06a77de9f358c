//! The keys of a scenario file that this crate owns, and helpers over their descriptions.
//!
//! `tables` lists the sections and keys with their kind, default and one sentence. From them come
//! the checks in `normal`, the JSON Schema in `schema` and the reference page in `reference`. What
//! models declare beside themselves comes from the catalogue.

pub(crate) mod tables;

pub(crate) use backlane_param::{Key, Kind, Presence, Section, Tag, Variant};

/// The number of known names that are compared for similarity.
const MOST_COMPARED: usize = 10_000;

/// The name most similar to `name`, if any is similar.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower: String = name.to_lowercase().chars().take(64).collect();
    known
        .into_iter()
        .take(MOST_COMPARED)
        .map(|known| {
            (
                strsim::damerau_levenshtein(&lower, &known.to_lowercase()),
                known,
            )
        })
        .min_by_key(|(distance, _)| *distance)
        // A third of the letters may differ; more is another word.
        .filter(|(distance, known)| *distance <= known.chars().count().max(lower.len()) / 3)
        .map(|(_, known)| known)
}
