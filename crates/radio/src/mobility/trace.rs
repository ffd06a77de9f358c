//! A trace of positions as text.

use std::fmt;

use backlane_units::{Duration, SimTime};

use super::waypoints::{WaypointError, Waypoints};
use crate::position::Position;

/// What is wrong with a trace, and in which line (from 1; 0: in none).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from 1 as editors do; 0 if the fault is that lines are missing.
    pub line: usize,
    /// What is wrong and how to mend it.
    pub what: String,
}

const COLUMNS: [&str; 4] = ["time_s", "x_m", "y_m", "z_m"];

/// Longer than any run: the clock's range, less a day.
const LONGEST_S: f64 = 18_000_000.0;

impl Waypoints {
    /// Reads a trace: comma-separated text with a header of `time_s`, `x_m`, `y_m` and
    /// optionally `z_m` in any order. Empty lines and lines that begin with `#` are skipped. Times
    /// must increase; steps may be of any length, and the user goes straight from place to place.
    /// `height_m` is the height where there is no column `z_m`.
    ///
    /// # Errors
    /// Names the line: a header that lacks or repeats a column or has one that is unknown, a row
    /// with too few or too many fields, a field that is no number, a negative time, a time that
    /// is not later than the one before, a coordinate beyond 10 000 km, no row at all.
    pub fn parse(text: &str, height_m: f64) -> Result<Self, TraceError> {
        let mut lines = text
            .trim_start_matches('\u{feff}')
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (line, header) = lines.next().ok_or_else(|| {
            error(
                0,
                "the trace is empty; begin it with the line \"time_s,x_m,y_m\"",
            )
        })?;
        let order = header_order(header).map_err(|what| error(line, what))?;
        let (mut places, mut line_of) = (Vec::new(), Vec::new());
        for (line, row) in lines {
            let values = fields(row, &order).map_err(|what| error(line, what))?;
            let [time_s, x_m, y_m] = [0, 1, 2].map(|column| values[column].unwrap_or(0.0));
            if !(0.0..=LONGEST_S).contains(&time_s) {
                let what = format!(
                    "the time is {time_s} s; write seconds since the start of the run, at most \
                     {LONGEST_S}"
                );
                return Err(error(line, what));
            }
            let time = SimTime::ZERO + Duration::from_secs_f64(time_s);
            places.push((time, Position::new(x_m, y_m, values[3].unwrap_or(height_m))));
            line_of.push(line);
        }
        Self::new(&places).map_err(|problem| match problem {
            WaypointError::Empty => error(0, "the trace has no row; give at least one place"),
            WaypointError::NotLater(index) => error(
                line_of[index],
                format!(
                    "the time is not later than that of line {}; sort the rows by time",
                    line_of[index - 1]
                ),
            ),
            WaypointError::Outside(index) => error(
                line_of[index],
                "a coordinate is beyond 10 000 km; write metres from an origin near the network",
            ),
        })
    }
}

/// For each field of a row, the column it belongs to.
fn header_order(header: &str) -> Result<Vec<usize>, String> {
    let mut order = Vec::new();
    for name in header.split(',').map(str::trim) {
        let column = COLUMNS
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                format!(
                    "the column {name:?} is not known; the header is \"time_s,x_m,y_m\" and \
                     optionally \"z_m\""
                )
            })?;
        if order.contains(&column) {
            return Err(format!("the column {name:?} is there twice; remove one"));
        }
        order.push(column);
    }
    match (0..3).find(|column| !order.contains(column)) {
        Some(missing) => Err(format!(
            "the column {:?} is missing; add it to the header and to each row",
            COLUMNS[missing]
        )),
        None => Ok(order),
    }
}

/// The values of a row by column.
fn fields(row: &str, order: &[usize]) -> Result<[Option<f64>; 4], String> {
    let mut values = [None; 4];
    let texts: Vec<&str> = row.split(',').map(str::trim).collect();
    if texts.len() != order.len() {
        return Err(format!(
            "the row has {} fields and the header {}",
            texts.len(),
            order.len()
        ));
    }
    for (&column, text) in order.iter().zip(texts) {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => values[column] = Some(value),
            _ => {
                return Err(format!(
                    "{} is {text:?}; write a finite number, or leave the row out",
                    COLUMNS[column]
                ));
            }
        }
    }
    Ok(values)
}

fn error(line: usize, what: impl Into<String>) -> TraceError {
    TraceError {
        line,
        what: what.into(),
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for TraceError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(s: f64) -> SimTime {
        SimTime::ZERO + Duration::from_secs_f64(s)
    }

    #[test]
    fn a_trace_with_gaps_and_comments_is_a_way() {
        let text = "\u{feff}# a walk\r\ntime_s,x_m,y_m\r\n0,0,0\r\n\r\n1.5,3,0\r\n100,3,-197\r\n";
        let way = Waypoints::parse(text, 1.5).unwrap();
        assert_eq!(way.position(at(0.75)), Position::new(1.5, 0.0, 1.5));
        assert_eq!(way.speed_m_per_s(at(50.0)), 2.0);
        assert_eq!(way.travelled_m(at(200.0)), 200.0);
    }

    #[test]
    fn the_order_of_columns_and_the_height_are_those_of_the_file() {
        let way = Waypoints::parse("z_m,time_s,y_m,x_m\n30, 0, 2, 1\n", 1.5).unwrap();
        assert_eq!(way.position(at(0.0)), Position::new(1.0, 2.0, 30.0));
    }

    #[test]
    fn a_fault_names_its_line_and_its_mend() {
        let told = |text: &str| Waypoints::parse(text, 1.5).unwrap_err().to_string();
        let header = "time_s,x_m,y_m\n";
        assert!(told("").starts_with("the trace is empty; begin it with"));
        assert!(told(header).starts_with("the trace has no row"));
        assert_eq!(
            told("time_s,x_m,y_m\n0,0,0\n# back\n-0,1,1\n"),
            "line 4: the time is not later than that of line 2; sort the rows by time"
        );
        assert!(
            told("time_s,x_m,y_m\n5,0,0\n4,1,1\n").starts_with("line 3: the time is not later")
        );
        assert_eq!(
            told("time_s,x_m,y_m\n0,NaN,0\n"),
            "line 2: x_m is \"NaN\"; write a finite number, or leave the row out"
        );
        assert!(told("time_s,x_m,y_m\n0,1e400,0\n").starts_with("line 2: x_m is \"1e400\""));
        assert!(told("time_s,x_m,y_m\n0,,0\n").starts_with("line 2: x_m is \"\""));
        assert!(told("time_s,x_m,y_m\n-1,0,0\n").starts_with("line 2: the time is -1 s"));
        assert!(told("time_s,x_m,y_m\n1e9,0,0\n").starts_with("line 2: the time is 1000000000 s"));
        assert!(told("time_s,x_m,y_m\n0,2e7,0\n").starts_with("line 2: a coordinate is beyond"));
        assert_eq!(
            told("time_s,x_m,y_m\n0,0\n"),
            "line 2: the row has 2 fields and the header 3"
        );
        assert!(told("0,0,0\n").starts_with("line 1: the column \"0\" is not known"));
        assert!(told("time_s,x_m\n0,0\n").starts_with("line 1: the column \"y_m\" is missing"));
        assert!(told("time_s,x_m,y_m,x_m\n").starts_with("line 1: the column \"x_m\" is there"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(time_s,x_m,y_m\n)?[-0-9a-z.,#\n\r ]{0,80}") {
            let _ = Waypoints::parse(&text, 1.5);
        }
    }
}
