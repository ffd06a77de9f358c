//! The binding constraints of demands that cannot all be met. Each is found by relaxing it and solving
//! the program again.

use crate::error::Error;
use crate::infeasible::{Constraint, Infeasible, Remedy};
use crate::program::{Goal, Program, Solution};

/// What keeps the demands from being met, given how far they can be.
pub(crate) fn explain(program: &Program, met: &Solution) -> Result<Infeasible, Error> {
    let busy = |row: &&usize| {
        let row = &program.rows[**row];
        Program::airtime(row, met) > row.capacity * (1.0 - 1e-6)
    };
    let all: Vec<usize> = (0..program.rows.len()).collect();
    let full: Vec<usize> = all.iter().filter(busy).copied().collect();
    let with_more = |rows: &[usize]| -> Result<f64, Error> {
        Ok(program.with_more(rows).solve(&Goal::Factor)?.value)
    };
    let enough = met.value * (1.0 + 1e-6);
    let mut remedies: Vec<Remedy> = Vec::new();
    for &row in &full {
        let constraint = program.rows[row].constraint;
        // A channel is one more everywhere.
        let channels = |one: &Constraint| matches!(one, Constraint::Channels { .. });
        let known = remedies.iter().any(|old| channels(&old.constraint));
        if !(channels(&constraint) && known) {
            let factor = with_more(&[row])?;
            if factor > enough {
                remedies.push(Remedy { constraint, factor });
            }
        }
    }
    let together = remedies.is_empty();
    if together {
        let mut needed = full;
        for row in needed.clone() {
            let without: Vec<usize> = needed.iter().copied().filter(|&one| one != row).collect();
            if with_more(&without)? > enough {
                needed = without;
            }
        }
        let factor = with_more(&needed)?;
        let remedy = |&row: &usize| Remedy {
            constraint: program.rows[row].constraint,
            factor,
        };
        remedies = needed.iter().map(remedy).collect();
    }
    Ok(Infeasible {
        factor: met.value,
        remedies,
        together,
    })
}
