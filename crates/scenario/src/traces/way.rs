//! Where a UE is over time.

use std::fmt::Write;

use backlane_units::Duration;

use super::rows::{Column, Rows, seconds};
use super::{Name, Traces};
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::lte::Place;
use crate::problems::Problems;
use crate::spec::tables::LONGEST_PS;

/// Farther than a quarter of the Earth's circumference is a mistake.
const FARTHEST_M: f64 = 1e7;

const fn coordinate(name: &'static str) -> Column {
    Column {
        name,
        min: -FARTHEST_M,
        max: FARTHEST_M,
        may_lack: false,
        mend: "write metres from an origin near the network",
    }
}

impl Traces {
    /// Reads the places of a UE from the file of that name: a table of `time_s`, `x_m` and `y_m`.
    /// Rows may be any time apart, since a UE goes straight from place to place.
    pub(crate) fn way(
        &mut self,
        file: &str,
        span: Span,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<Vec<Place>> {
        let name = Name {
            file: file.to_owned(),
            of: "way".to_owned(),
            entity: None,
            run: None,
        };
        let (source, text) = self.text(&name, span, files, problems)?;
        let any_gap = Duration::from_ps(LONGEST_PS);
        let mut read =
            |column| Rows::read(&text, source, &name, &coordinate(column), any_gap, problems);
        let (x, y) = (read("x_m"), read("y_m"));
        let (x, y) = (x?, y?);
        let places: Vec<Place> = x
            .times
            .iter()
            .zip(x.values.iter().zip(&y.values))
            .map(|(&at, (&x_m, &y_m))| Place {
                at,
                position_m: (x_m, y_m),
            })
            .collect();
        let mut canonical = "time_s,x_m,y_m\n".to_owned();
        for Place { at, position_m } in &places {
            let (x_m, y_m) = position_m;
            let _ = writeln!(canonical, "{},{x_m},{y_m}", seconds(*at));
        }
        self.used.insert(name, canonical);
        Some(places)
    }
}
