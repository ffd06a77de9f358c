//! Cells of a sweep that are the same scenario.

use std::collections::BTreeMap;

use crate::codes::Code;
use crate::problems::Problems;
use crate::shown;
use crate::sweep::Sweep;

/// Cells by what they resolve to.
#[derive(Default)]
pub(crate) struct Twins {
    /// The hash and the values of each cell.
    pub(crate) cells: Vec<(String, Vec<usize>)>,
    /// The first cell with each hash.
    first: BTreeMap<String, usize>,
}

impl Twins {
    pub(crate) fn add(&mut self, hash: String, choice: Vec<usize>) {
        self.first.entry(hash.clone()).or_insert(self.cells.len());
        self.cells.push((hash, choice));
    }

    /// The cells that are not like an earlier one.
    pub(crate) fn originals(&self) -> impl Iterator<Item = (usize, &str)> {
        let cells = self.cells.iter().enumerate();
        cells
            .filter(|(index, (hash, _))| self.first.get(hash) == Some(index))
            .map(|(index, (hash, _))| (index, hash.as_str()))
    }

    /// Tells which values make the same scenario.
    pub(crate) fn warn(&self, sweep: &Sweep, problems: &mut Problems) {
        // The same pair of values may occur in many cells, and is reported once.
        let mut pairs: BTreeMap<Vec<(usize, usize, usize)>, usize> = BTreeMap::new();
        for (hash, choice) in &self.cells {
            let Some(first) = self.first.get(hash) else {
                continue;
            };
            let others = self.cells[*first].1.iter().zip(choice).enumerate();
            let differing: Vec<_> = others
                .filter(|(_, (first, own))| first != own)
                .map(|(axis, (first, own))| (axis, *first, *own))
                .collect();
            if !differing.is_empty() {
                *pairs.entry(differing).or_default() += 1;
            }
        }
        for (differing, count) in pairs {
            let Some((axis, _, own)) = differing.first() else {
                continue;
            };
            let place = sweep.axes[*axis].values[*own].span;
            let values = |pick: fn(&(usize, usize, usize)) -> usize| {
                let texts = differing.iter().map(|values| {
                    let axis = &sweep.axes[values.0];
                    let label = shown::short(&axis.labels[pick(values)].to_string());
                    format!("{} = {label}", shown::short(&axis.path))
                });
                texts.collect::<Vec<_>>().join(", ")
            };
            let message = format!(
                "{} and {} are the same scenario",
                values(|values| values.1),
                values(|values| values.2)
            );
            let label = match count {
                1 => "it is carried out once; remove one, unless two labels are meant".to_owned(),
                _ => format!(
                    "so are {count} cells and their twins, each carried out once; remove one value, \
                     unless two labels are meant"
                ),
            };
            problems.warning(Code::SameCells, place, message, label);
        }
    }
}
