//! UEs behind recorded traces.

mod common;

use common::{floats, integers, run, texts};

/// One UE or more at a chain of two eNodeBs; `access` and `flow` as given.
fn traced(access: &str, flow: &str, traces: &[(&str, &str)]) -> String {
    let mut text = format!(
        "name = \"traced\"\nduration = \"60 s\"\n\
         [topology]\nkind = \"chain\"\nnodes = 2\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"enb1\"\nlink = {{ rate = \"10 Gbit/s\", delay = \"5 ms\" }}\n\
         [access]\nkind = \"trace\"\ndelay = \"10 ms\"\n{access}\n[[flow]]\n{flow}\n"
    );
    for (file, source) in traces {
        text += &format!(
            "[[trace]]\nfile = \"{file}\"\nof = \"capacity\"\nsource = \"\"\"\n{source}\"\"\"\n"
        );
    }
    text
}

/// Every millisecond from 1 to `ms` an opportunity, 12 Mbit/s.
fn steady(ms: u32) -> String {
    let lines: Vec<String> = (1..=ms).map(|ms| ms.to_string()).collect();
    lines.join("\n") + "\n"
}

const UPLOAD: &str = "kind = \"udp\"\nfrom = \"ue1\"\nto = \"server\"\nrate = \"20 Mbit/s\"\n\
                      packet_size = \"1472 B\"\nstart = \"0 s\"";

#[test]
fn a_saturated_trace_delivers_1500_bytes_for_each_of_its_lines() {
    // 12 Mbit/s for half a second, then nothing for half a second, and again.
    let trace = steady(500) + "1000\n";
    let access = "ues = 1\ndownlink = \"t\"\nuplink = \"t\"\nat_end = \"repeat\"";
    let outcome = run(&traced(access, UPLOAD, &[("t", &trace)]), 1, None);
    // Payloads of 1472 bytes are packets of 1500. The 501 opportunities of each second, but
    // those after 59.985 s: the delay is 10 ms, and 5.6 ms more to the server.
    let delivered = integers(&outcome.flows, "delivered_bytes")[0].unwrap();
    assert_eq!(delivered, (60 * 501 - 1) * 1472);
    let row = texts(&outcome.links, "from")
        .iter()
        .position(|from| from.as_deref() == Some("ue1"))
        .unwrap();
    assert_eq!(texts(&outcome.links, "to")[row].as_deref(), Some("enb1"));
    assert_eq!(
        integers(&outcome.links, "rate_bps")[row],
        Some(501 * 12_000)
    );
    let utilisation = floats(&outcome.links, "utilisation")[row].unwrap();
    assert!((utilisation - 1.0).abs() < 1e-12, "{utilisation}");
}

#[test]
fn a_capacity_table_and_tcp_over_it() {
    // 20 Mbit/s and 5 Mbit/s in turn: 12.5 Mbit/s in the mean.
    let table = "time_s,rate_bps\n0,20e6\n2,5e6\n";
    let access =
        "ues = 1\ndownlink = \"t\"\nuplink = \"t\"\nat_end = \"repeat\"\nqueue = \"100 packets\"";
    let flow = "kind = \"download\"\nsize = \"endless\"\nstart = \"0 s\"";
    let outcome = run(&traced(access, flow, &[("t", table)]), 1, None);
    let goodput = floats(&outcome.flows, "goodput_bps")[0].unwrap();
    // 1448 of 1500 bytes are payload; CUBIC loses a little at each step down.
    let most = 12.5e6 * 1448.0 / 1500.0;
    assert!((0.9 * most..most).contains(&goodput), "{goodput} of {most}");
}

#[test]
fn each_ue_has_the_trace_of_its_turn_or_shares_that_of_its_enodeb() {
    let table = |mbps: u32| format!("time_s,rate_bps\n0,{mbps}e6\n1,{mbps}e6\n");
    let (fast, slow) = (table(8), table(2));
    let traces = [("fast", fast.as_str()), ("slow", slow.as_str())];
    let flow = UPLOAD.replace("\"ue1\"", "\"ues\"");
    let shares = |access: &str| -> Vec<u64> {
        let text = traced(access, &flow, &traces).replace("60 s", "10 s");
        floats(&run(&text, 1, None).flows, "goodput_bps")
            .iter()
            .map(|goodput| (goodput.unwrap() / 1472.0 * 1500.0 / 1e5).round() as u64)
            .collect()
    };
    let lists = "downlink = \"fast\"\nuplink = [\"fast\", \"slow\"]\nat_end = \"hold\"\nues = 4\n\
                 queue = \"20 packets\"";
    // Tenths of a megabit; some packets are still under way at the end.
    assert_eq!(shares(lists), [80, 20, 80, 20]);
    let shared = shares(&format!("{lists}\nper = \"enodeb\""));
    // UEs 1 and 3 are at the first eNodeB, 2 and 4 at the second.
    assert_eq!((shared[0] + shared[2], shared[1] + shared[3]), (80, 20));
}

#[test]
fn the_trace_begins_where_the_warm_up_ends() {
    let table = "time_s,rate_bps\n0,8e6\n5,0\n";
    let access = "ues = 1\ndownlink = \"t\"\nuplink = \"t\"\nat_end = \"hold\"";
    let text = traced(access, UPLOAD, &[("t", table)]) + "[routing]\nwarm_up = \"7 s\"\n";
    let delivered = integers(&run(&text, 1, None).flows, "delivered_bytes")[0].unwrap();
    let full = 5 * 8_000_000 / 8 / 1500;
    assert_eq!(delivered / 1472, full);
}

#[test]
fn an_enodeb_that_fails_cuts_the_links_of_its_ues() {
    let trace = steady(100);
    let access = "ues = 1\ndownlink = \"t\"\nuplink = \"t\"\nat_end = \"repeat\"";
    let failing = traced(access, UPLOAD, &[("t", &trace)])
        + "[[failure]]\nnode = \"enb1\"\nat = \"10 s\"\nuntil = \"30 s\"\n";
    let delivered = integers(&run(&failing, 1, None).flows, "delivered_bytes")[0].unwrap();
    let packets = delivered / 1472;
    // A packet each millisecond but in 20 s of 60; up to twenty were on the way at either end.
    assert!((39_960..=40_000).contains(&packets), "{packets}");
}

/// One cell with a UE that hears `channel`.
fn cell(ue: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"enb1\"\nlink = {{ rate = \"10 Gbit/s\", delay = \"5 ms\" }}\n\
         [access]\nkind = \"lte\"\n[[access.ue]]\nnear = \"enb1\"\n{ue}\n\
         [[flow]]\nkind = \"download\"\nsize = \"endless\"\nstart = \"0 s\"\n{more}"
    )
}

#[test]
fn a_recorded_walk_replayed_carries_what_the_walk_did() {
    let walk = "distance = \"300 m\"\nspeed = \"200 km/h\"\nheading = \"outward\"";
    let record = "[record]\nseries = [\"radio\"]\ninterval = \"100 ms\"\n";
    let walked = run(&cell(walk, record), 1, None);
    let radio = &walked
        .series
        .iter()
        .find(|(name, _)| *name == "radio")
        .unwrap()
        .1;
    let rows: Vec<(f64, f64)> = floats(radio, "time_s")
        .into_iter()
        .zip(floats(radio, "sinr_db"))
        .map(|(time, sinr)| (time.unwrap(), sinr.unwrap()))
        .collect();
    let (first, last) = (rows[0].1, rows[rows.len() - 1].1);
    assert!(rows.len() >= 99 && first > last + 10.0, "{first} {last}");
    let lines: Vec<String> = (rows.iter())
        .map(|(time, sinr)| format!("{time},{sinr}"))
        .collect();
    let table = lines.join("\n");
    let stands = "distance = \"300 m\"\nchannel = { sinr = \"radio\", at_end = \"hold\" }";
    let trace = format!(
        "[[trace]]\nfile = \"radio\"\nof = \"sinr\"\nsource = \"\"\"\ntime_s,sinr_db\n{table}\n\"\"\"\n"
    );
    let replayed = run(&cell(stands, &trace), 1, None);
    let goodput =
        |outcome: &backlane_world::Outcome| floats(&outcome.flows, "goodput_bps")[0].unwrap();
    // Samples of each 100 ms hold until the next, so that the replay is up to 0.1 s late in 10 s.
    let ratio = goodput(&replayed) / goodput(&walked);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn two_runs_of_one_seed_are_the_same() {
    let access =
        "ues = 2\nplacement = \"random\"\ndownlink = \"t\"\nuplink = \"t\"\nat_end = \"repeat\"";
    let flow = "kind = \"download\"\nsize = \"2 MB\"\nstart = \"uniform 0 s 1 s\"";
    let text = traced(access, flow, &[("t", &steady(70))]);
    let digest = || run(&text, 5, None).summary.digest;
    assert_eq!(digest(), digest());
}
