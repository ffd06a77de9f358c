//! What a receiver hears over time: its SINR, or the CQI that it reports.

use backlane_units::Duration;

use super::rows::{Column, Rows};
use super::{Name, Traces};
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{AtEnd, ChannelQuantity, ChannelTrace};
use crate::problems::Problems;
use crate::tree::Table;

/// Beyond what any receiver tells apart: thermal noise is 100 dB below a transmitter next door.
const SINR: Column = Column {
    name: "sinr_db",
    min: -100.0,
    max: 100.0,
    may_lack: true,
    mend: "write decibels, from -100 to 100",
};

/// TS 36.213 table 7.2.3-1.
const CQI: Column = Column {
    name: "cqi",
    min: 0.0,
    max: 15.0,
    may_lack: true,
    mend: "write a CQI, from 0 to 15",
};

impl Traces {
    /// Reads the trace that a normal section `channel` names.
    pub(crate) fn channel(
        &mut self,
        table: &Table,
        span: Span,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<ChannelTrace> {
        let (key, column, quantity) = match (table.text("sinr"), table.text("cqi")) {
            (Some(_), None) => ("sinr", &SINR, ChannelQuantity::Sinr),
            (None, Some(_)) => ("cqi", &CQI, ChannelQuantity::Cqi),
            (both, _) => {
                let message = match both {
                    Some(_) => "a channel names an SINR trace and a CQI trace",
                    None => "a channel names no trace",
                };
                let label = "write sinr = \"FILE\" or cqi = \"FILE\"";
                problems.error(Code::TraceChoice, span, message, label);
                return None;
            }
        };
        let fades = table.boolean("fading")?;
        if fades && quantity == ChannelQuantity::Cqi {
            let message = "fading is on top of a mean SINR, and the channel names a CQI trace";
            let label = "leave it out: a CQI is of what the UE hears";
            problems.error(
                Code::TraceChoice,
                table.place("fading", span),
                message,
                label,
            );
            return None;
        }
        let max_gap: Duration = table.quantity("max_gap")?;
        let name = Name {
            file: table.text(key)?.to_owned(),
            of: key.to_owned(),
            entity: table.text("entity").map(str::to_owned),
            run: table.text("run").map(str::to_owned),
        };
        let (source, text) = self.text(&name, table.place(key, span), files, problems)?;
        let rows = Rows::read(&text, source, &name, column, max_gap, problems)?;
        self.used.insert(name, rows.text(column));
        Some(ChannelTrace {
            quantity,
            fades,
            at_end: AtEnd::of(table.text("at_end")?),
            times: rows.starts().collect(),
            period: rows.period(),
            values: rows.values,
        })
    }
}
