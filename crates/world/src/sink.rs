//! The receiver of series and captures.
//!
//! Series and captures grow during a run. The caller may receive them in pieces; a run then holds at
//! most the amounts below, and the records of one instant.

use backlane_engine::Interrupt;
use backlane_record::Table;

/// Rows of a series that are handed over together.
pub const SERIES_ROWS: usize = 1 << 16;
/// Bytes of a capture that are handed over together.
pub const CAPTURE_BYTES: usize = 4 << 20;
/// Bytes of all captures of a run; many captures are handed over in smaller pieces.
pub const CAPTURES_BYTES: usize = 64 << 20;

/// Receives series and captures during a run.
pub trait Sink {
    /// Further rows of a series. All pieces of a probe have the same columns; one after another
    /// they are the series.
    ///
    /// # Errors
    /// [`Interrupt`], if they cannot be kept: it ends the run.
    fn series(&mut self, probe: &'static str, rows: Table) -> Result<(), Interrupt>;

    /// Further bytes of the pcapng file of what passed at a node: first the head of the file, then
    /// whole blocks. One after another the pieces are the file.
    ///
    /// # Errors
    /// [`Interrupt`], if they cannot be kept: it ends the run.
    fn capture(&mut self, node: &str, bytes: Vec<u8>) -> Result<(), Interrupt>;
}
