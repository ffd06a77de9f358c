//! The section `[linux]`, and what flows outside the simulation may ask for.

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{FlowGroup, Linux, Programs, Stack};
use crate::problems::Problems;
use crate::shown::short;
use crate::tree::{Item, Table, Value};
use backlane_units::Bytes;

/// The file with an empty `[linux]`, for its defaults, if flows need kernels and it has none.
pub(crate) fn with_section(raw: &Table) -> Option<Table> {
    let flows = raw.tables("flow");
    let is_linux = |(flow, _): &(&Table, Span)| flow.text("stack") == Some("linux");
    if raw.entry("linux").is_some() || !flows.iter().any(is_linux) {
        return None;
    }
    let span = raw.place("flow", Span::default());
    let mut file = raw.clone();
    let value = Value::Table(Table::default());
    file.set("linux", span, Item { value, span });
    Some(file)
}

/// The kernels, if flows need any. Checks the flows outside the simulation.
pub(crate) fn read(tree: &Table, flows: &[FlowGroup], problems: &mut Problems) -> Option<Linux> {
    let coded = tree.table("coding");
    let coded = coded.is_some_and(|coding| coding.boolean("enabled") == Some(true));
    for ((table, span), flow) in tree.tables("flow").into_iter().zip(flows) {
        if let Some(programs) = &flow.programs {
            check_programs(flow, programs, table, span, problems);
        }
        if flow.stack == Stack::Model {
            continue;
        }
        let control = flow.congestion_control.as_deref();
        let control = control.or_else(|| tree.table("tcp")?.text("congestion_control"));
        let refused = if flow.gap.is_some() {
            Some(("gap", "flows one after another are those of the model"))
        } else if coded {
            Some(("stack", "network coding takes the packets of the model"))
        } else if control.is_some_and(|name| name.contains(':')) {
            Some((
                "stack",
                "a kernel cannot run a congestion control in Python",
            ))
        } else if flow.stack == Stack::External && flow.size.is_some() {
            Some(("size", "programs outside decide how much they send"))
        } else {
            None
        };
        if let Some((key, message)) = refused {
            let label = "leave `stack` at \"model\", or remove the other key; an external flow has size = \"endless\"";
            problems.error(Code::BadStack, table.place(key, span), message, label);
        }
    }
    let any = flows.iter().any(|flow| flow.stack == Stack::Linux);
    any.then(|| section(tree, problems)).flatten()
}

/// Checks the programs of a flow; whether their files are programs is seen when they are started.
fn check_programs(
    flow: &FlowGroup,
    programs: &Programs,
    table: &Table,
    span: Span,
    problems: &mut Problems,
) {
    let has_path = |words: &[String]| words.first().is_none_or(|first| first.starts_with('/'));
    let is_word = |word: &String| !word.is_empty() && !word.contains(char::is_control);
    let (client, server) = (&programs.client, &programs.server);
    let refused = if flow.stack != Stack::Linux {
        Some(("client", "only kernels run programs"))
    } else if client.is_empty() {
        Some(("server", "a flow begins with its client"))
    } else if flow.size.is_some() {
        Some(("size", "a program decides how much it sends"))
    } else if !has_path(client) || !client.iter().all(is_word) {
        Some(("client", "this is no program with its arguments"))
    } else if !has_path(server) || !server.iter().all(is_word) {
        Some(("server", "this is no program with its arguments"))
    } else {
        None
    };
    if let Some((key, message)) = refused {
        let label = "with stack = \"linux\" and size = \"endless\": the absolute path of a static program, and arguments of a character or more";
        problems.error(Code::BadStack, table.place(key, span), message, label);
    }
}

fn section(tree: &Table, problems: &mut Problems) -> Option<Linux> {
    let table = tree.table("linux")?;
    let mut sysctl = Vec::new();
    for (text, span) in table.texts("sysctl") {
        match setting(text) {
            Some(pair) => sysctl.push(pair),
            None => {
                let message = format!("\"{}\" is no setting", short(text));
                let label = "write NAME=VALUE, such as \"net.ipv4.tcp_sack=0\"";
                problems.error(Code::BadSysctl, span, message, label);
            }
        }
    }
    let kernel = table.text("kernel")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    if !kernel.starts_with(|c: char| c.is_ascii_alphanumeric()) || !kernel.chars().all(is_plain) {
        let message = format!("\"{}\" is no name of a kernel", short(kernel));
        let label = "a version such as \"6.1\", or a name of letters, digits and . _ - +";
        let place = table.place("kernel", Span::default());
        problems.error(Code::BadSysctl, place, message, label);
    }
    Some(Linux {
        kernel: kernel.to_owned(),
        sysctl,
        memory_bytes: table.quantity::<Bytes>("memory")?.get(),
    })
}

/// A setting as path below `/proc/sys` and value. The path leads nowhere else.
fn setting(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_part = |part: &str| !part.is_empty() && part.chars().all(is_plain);
    let is_line = |c: char| c.is_ascii_graphic() || c == ' ';
    let fits = name.split('.').all(is_part) && value.chars().all(is_line) && !value.is_empty();
    fits.then(|| (name.replace('.', "/"), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_a_name_below_proc_sys_and_a_value() {
        let good = setting("net.ipv4.tcp_rmem = 4096 131072 6291456");
        let path = "net/ipv4/tcp_rmem".to_owned();
        assert_eq!(good, Some((path, "4096 131072 6291456".to_owned())));
        for bad in [
            "net.ipv4.tcp_sack",
            "=1",
            "a..b=1",
            "../x=1",
            "a/b=1",
            "a=\n",
            "a=",
        ] {
            assert_eq!(setting(bad), None, "{bad}");
        }
    }
}
