//! Traces are part of the scenario that names them.

mod catalogue;

use catalogue::{check, plan};
use std::path::PathBuf;

use backlane_scenario::Plan;
use backlane_scenario::model::{AccessKind, AtEnd, Capacity, ChannelQuantity, TraceAccess};
use backlane_units::Duration;

/// A folder of its own with these files.
fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("traces_{test}"));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn scenario(access: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"4 ms\" }}\n\
         [access]\nkind = \"trace\"\nues = 3\n{access}\n\
         [[flow]]\nkind = \"upload\"\nfrom = \"ues\"\nto = \"enb3\"\nsize = \"1 MB\"\n"
    )
}

fn planned(folder: &std::path::Path, text: &str) -> Plan {
    let path = folder.join("scenario.toml");
    plan(text, &path.to_string_lossy(), &[], None).unwrap_or_else(|report| panic!("{report}"))
}

fn access(plan: &Plan) -> TraceAccess {
    let read = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    match read.access.map(|access| access.kind) {
        Some(AccessKind::Trace(trace)) => *trace,
        other => panic!("{other:?}"),
    }
}

const LINES: &str = "0\n0\n3\n10\n";
const TABLE: &str = "# a drive\nnote,time_s,rate_bps\na,0.5,1e6\n,1,2.0e6\n,2.25,0\n";
const BOTH: &str = "downlink = \"a.csv\"\nuplink = \"b.up\"\nat_end = \"repeat\"";

#[test]
fn a_resolved_scenario_holds_its_traces_and_needs_no_file() {
    let folder = folder("holds", &[("a.csv", TABLE), ("b.up", LINES)]);
    let plan = planned(&folder, &scenario(BOTH));
    let trace = access(&plan);
    let ms = Duration::from_millis;
    let steps = vec![(ms(0), 1_000_000), (ms(1000), 2_000_000), (ms(2250), 0)];
    // The first value holds before its row, the last for as long as the one before it.
    let period = ms(3500);
    assert_eq!(
        trace.traces,
        [
            Capacity::Rates { steps, period },
            Capacity::Opportunities(vec![(0, 2), (3, 1), (10, 1)])
        ]
    );
    assert_eq!((trace.downlink, trace.uplink), (vec![0], vec![1]));
    let resolved = &plan.cells[0].resolved;
    let again = planned(&folder.join("no/such/folder"), resolved);
    assert_eq!(again.cells[0].resolved, *resolved);
    assert_eq!(again.scenario_hash, plan.scenario_hash);
}

#[test]
fn a_changed_trace_is_another_scenario_and_another_spelling_is_not() {
    let hash = |test: &str, table: &str, lines: &str| {
        let folder = folder(test, &[("a.csv", table), ("b.up", lines)]);
        planned(&folder, &scenario(BOTH)).scenario_hash
    };
    let first = hash("first", TABLE, LINES);
    let spelled = "time_s,rate_bps\r\n0.50,1000000\r\n1.0,2000000\r\n2.25,0.0\r\n";
    assert_eq!(hash("spelled", spelled, "0\r\n0\r\n3\r\n10"), first);
    assert_ne!(hash("rate", &TABLE.replace("1e6", "1e5"), LINES), first);
    assert_ne!(hash("line", TABLE, "0\n3\n10\n"), first);
}

#[test]
fn a_list_of_files_is_dealt_out_and_each_file_is_read_once() {
    let folder = folder("list", &[("a.csv", TABLE), ("b.up", LINES)]);
    let text = "downlink = [\"b.up\", \"a.csv\", \"b.up\"]\nuplink = \"a.csv\"\nper = \"enodeb\"\n\
                at_end = \"stop\"\nqueue = { discipline = \"codel\", limit = \"100 packets\" }";
    let trace = access(&planned(&folder, &scenario(text)));
    assert_eq!((trace.downlink, trace.uplink), (vec![0, 1, 0], vec![1]));
    assert_eq!((trace.traces.len(), trace.shared), (2, true));
}

#[test]
fn an_end_of_the_trace_must_be_stated_and_a_queue_in_bdp_has_no_meaning() {
    let folder = folder("end", &[("a.csv", TABLE)]);
    let codes = |text: &str| -> Vec<&str> {
        let path = folder.join("scenario.toml");
        let report = check(&scenario(text), &path.to_string_lossy(), &[]).unwrap_err();
        report
            .diagnostics
            .iter()
            .map(|problem| problem.code)
            .collect()
    };
    let files = "downlink = \"a.csv\"\nuplink = \"a.csv\"\n";
    assert_eq!(codes(files), ["S011"]);
    let queued = format!("{files}at_end = \"hold\"\nqueue = \"1 bdp\"\n");
    assert_eq!(codes(&queued), ["S022"]);
}

const SERIES: &str = "run_id,entity,time_s,sinr_db,cqi\nr1,ue1,0.1,20.5,14\nr1,ue2,0.1,3,4\n\
                      r1,ue1,0.15,,\nr1,ue1,0.2,19.25,13\nr1,ue2,0.2,2.5,4\nr1,ue1,0.3,7,9\n";

#[test]
fn a_channel_is_the_rows_of_one_entity_of_a_recorded_series() {
    let folder = folder(
        "channel",
        &[("radio.csv", SERIES), ("cqi.csv", "time_s,cqi\n0,3\n5,4\n")],
    );
    let ue = |channel: &str| {
        format!("[[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\n{channel}\n")
    };
    let text = |rows: &str| {
        format!(
            "duration = \"10 s\"\n[topology]\nkind = \"grid\"\nrows = 1\ncolumns = 2\n\
             spacing = \"1 km\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"4 ms\" }}\n\
             [access]\nkind = \"lte\"\nchannel = {{ cqi = \"cqi.csv\", at_end = \"repeat\" }}\n{rows}\
             [[flow]]\nkind = \"upload\"\nfrom = \"ues\"\nto = \"enb2\"\nsize = \"1 MB\"\n"
        )
    };
    let own = "channel = { sinr = \"radio.csv\", entity = \"ue1\", at_end = \"hold\" }";
    let plan = planned(&folder, &text(&(ue(own) + &ue(""))));
    let read = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    let Some(AccessKind::Lte(lte)) = read.access.map(|access| access.kind) else {
        panic!("not LTE");
    };
    assert_eq!(
        (lte.channel, lte.ues[0].channel, lte.ues[1].channel),
        (Some(0), Some(1), None)
    );
    let ms = Duration::from_millis;
    let sinr = &lte.channels[1];
    assert_eq!(sinr.quantity, ChannelQuantity::Sinr);
    assert_eq!(sinr.times, [ms(0), ms(200), ms(300)]);
    assert_eq!(sinr.values, [20.5, 19.25, 7.0]);
    assert_eq!((sinr.period, sinr.at_end), (ms(400), AtEnd::Hold));
    assert_eq!(lte.channels[0].quantity, ChannelQuantity::Cqi);
    let resolved = &plan.cells[0].resolved;
    assert_eq!(
        planned(&folder.join("no/such"), resolved).cells[0].resolved,
        *resolved
    );

    let refused = |channel: &str| {
        let path = folder.join("scenario.toml");
        let report = check(&text(&ue(channel)), &path.to_string_lossy(), &[]).unwrap_err();
        report.to_string()
    };
    let several = refused("channel = { sinr = \"radio.csv\", at_end = \"hold\" }");
    assert!(
        several.contains("S095") && several.contains("entity = \"ue1\""),
        "{several}"
    );
    let unknown =
        refused("channel = { sinr = \"radio.csv\", entity = \"ue9\", at_end = \"hold\" }");
    assert!(unknown.contains("no row has entity"), "{unknown}");
    let none = refused("channel = { at_end = \"hold\" }");
    assert!(none.contains("a channel names no trace"), "{none}");
}

#[test]
fn an_sinr_of_300_db_and_a_cqi_of_16_are_refused() {
    let files = [("a.csv", "time_s,sinr_db,cqi\n0,300,3\n1,20,16\n")];
    let folder = folder("values", &files);
    for (key, said) in [("sinr", "sinr_db is 300"), ("cqi", "cqi is 16")] {
        let text = scenario(&format!(
            "channel = {{ {key} = \"a.csv\", at_end = \"stop\" }}"
        ))
        .replace("\"trace\"", "\"lte\"");
        let path = folder.join("scenario.toml");
        let report = check(&text, &path.to_string_lossy(), &[])
            .unwrap_err()
            .to_string();
        assert!(report.contains("S093") && report.contains(said), "{report}");
    }
}

#[test]
fn a_gap_may_be_allowed() {
    let table = "time_s,rate_bps\n0,1e6\n60,2e6\n";
    let folder = folder("gap", &[("a.csv", table)]);
    let text = "downlink = \"a.csv\"\nuplink = \"a.csv\"\nat_end = \"hold\"\nmax_gap = \"60 s\"";
    assert_eq!(access(&planned(&folder, &scenario(text))).traces.len(), 1);
}

/// One cell of 6 resource blocks with this access.
fn narrow(access: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"graph\"\n\
         node = [{{ id = \"enb1\", x = \"0 m\", y = \"0 m\" }}]\n\
         [access]\nkind = \"lte\"\nues = 1\n\
         carrier = [{{ bandwidth = \"1.4 MHz\", frequency = \"2.6 GHz\" }}]\n{access}\n\
         [[flow]]\nkind = \"upload\"\nfrom = \"ues\"\nto = \"enb1\"\nsize = \"1 MB\"\n"
    )
}

#[test]
fn a_fading_trace_is_a_line_of_decibels_for_each_resource_block() {
    let lines = "0 -3.50 1e0\n".repeat(7);
    let short = "0 -3.5 1\n".repeat(5);
    let uneven = format!("{}0 1\n", "0 -3.5 1\n".repeat(6));
    let files = [
        ("eva.fad", lines.as_str()),
        ("short.fad", &short),
        ("uneven.fad", &uneven),
        ("word.fad", "0 deep 1\n"),
        ("strong.fad", "0 101\n"),
        ("empty.fad", "\n"),
    ];
    let folder = folder("fading", &files);
    let plan = planned(&folder, &narrow("fading_trace = { file = \"eva.fad\" }"));
    let read = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
    let Some(AccessKind::Lte(lte)) = read.access.map(|access| access.kind) else {
        panic!("not LTE");
    };
    let fading = lte.fading.unwrap();
    assert_eq!(fading.rows_db, vec![vec![0.0, -3.5, 1.0]; 7]);
    assert_eq!(fading.window, Duration::from_millis(500));
    let resolved = &plan.cells[0].resolved;
    let again = planned(&folder.join("no/such"), resolved);
    assert_eq!(again.cells[0].resolved, *resolved);

    let refused = |access: &str| {
        let path = folder.join("scenario.toml");
        let report = check(&narrow(access), &path.to_string_lossy(), &[]).unwrap_err();
        report.to_string()
    };
    for (keys, code, said) in [
        (
            "file = \"short.fad\"",
            "S097",
            "lines for 5 resource blocks",
        ),
        ("file = \"uneven.fad\"", "S097", "2 values, the first 3"),
        ("file = \"word.fad\"", "S093", "no gain in decibels"),
        ("file = \"strong.fad\"", "S093", "no gain in decibels"),
        (
            "file = \"empty.fad\"",
            "S097",
            "lines for 0 resource blocks",
        ),
        (
            "file = \"eva.fad\", window = \"0.5 ms\"",
            "S097",
            "no whole number",
        ),
    ] {
        let report = refused(&format!("fading_trace = {{ {keys} }}"));
        assert!(report.contains(code) && report.contains(said), "{report}");
    }
}

#[test]
fn fading_is_on_top_of_a_mean_sinr_where_a_channel_says_so() {
    let folder = folder("mean", &[("a.csv", "time_s,sinr_db,cqi\n0,20,9\n1,10,7\n")]);
    let channel = |keys: &str| format!("channel = {{ {keys}, at_end = \"hold\" }}\n");
    let mean = channel("sinr = \"a.csv\", fading = true");
    for (access, fades) in [
        (format!("fading = \"eva\"\n{mean}"), true),
        (channel("sinr = \"a.csv\""), false),
    ] {
        let plan = planned(&folder, &narrow(&access));
        let read = catalogue::from_resolved(&plan.cells[0].resolved).unwrap();
        let Some(AccessKind::Lte(lte)) = read.access.map(|access| access.kind) else {
            panic!("not LTE");
        };
        assert_eq!(lte.channels[0].fades, fades);
    }
    let refused = |access: &str| {
        let path = folder.join("scenario.toml");
        let report = check(&narrow(access), &path.to_string_lossy(), &[]).unwrap_err();
        report.to_string()
    };
    let none = refused(&mean);
    assert!(
        none.contains("S095") && none.contains("which has none"),
        "{none}"
    );
    let cqi = channel("cqi = \"a.csv\", fading = true");
    let cqi = refused(&format!("fading = \"eva\"\n{cqi}"));
    assert!(cqi.contains("S095") && cqi.contains("a CQI trace"), "{cqi}");
}
