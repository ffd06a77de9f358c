//! Whole networks with LTE access: TCP over a cell, over two cells, and over a mesh.

mod common;

use backlane_world::Outcome;
use common::{ROUTINGS, floats, integers, run, texts};

/// Download over a server 20 ms behind one eNodeB or a chain of them, 500 m apart.
fn network(enodebs: usize, access: &str) -> String {
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"chain\"\nnodes = {enodebs}\n\
         spacing = \"500 m\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[gateway]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n\
         [access]\nkind = \"lte\"\n{access}"
    )
}

const DOWNLOAD: &str = "[[flow]]\nkind = \"download\"\nsize = \"5 MB\"\n";

/// A link direction's value by its ends.
fn of_link(outcome: &Outcome, name: &str, from: &str, to: &str) -> u64 {
    let ends = texts(&outcome.links, "from")
        .into_iter()
        .zip(texts(&outcome.links, "to"));
    let row = ends
        .map(|(from, to)| (from.unwrap(), to.unwrap()))
        .position(|ends| ends == (from.to_owned(), to.to_owned()))
        .unwrap_or_else(|| panic!("no link {from}-{to}"));
    integers(&outcome.links, name)[row].unwrap()
}

/// A UE 100 m from its eNodeB has MCS 28: 75.376 Mbit/s in transport blocks of a millisecond, of
/// which 1448 bytes in 1500 and their headers are goodput. The rest of the time is the handshake,
/// slow start and the recovery from its end, a round trip of 60 ms each.
#[test]
fn tcp_fills_a_cell_up_and_down() {
    let ue = "[[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\n";
    let outcome = run(&network(1, &format!("{ue}{DOWNLOAD}")), 1, None);
    assert_eq!(outcome.summary.ended.name(), "flows finished");
    let finish_s = floats(&outcome.flows, "finish_time_s")[0].unwrap();
    let at_full_rate = 5e6 * 8.0 / (75.376e6 * 1448.0 / 1500.0);
    assert!(
        (at_full_rate..at_full_rate + 0.8).contains(&finish_s),
        "{finish_s}"
    );
    assert_eq!(floats(&outcome.radio, "mcs_mean")[0], Some(28.0));
    let upload = "[[flow]]\nkind = \"upload\"\nsize = \"2 MB\"\n";
    let outcome = run(&network(1, &format!("{ue}{upload}")), 1, None);
    assert_eq!(outcome.summary.ended.name(), "flows finished");
    let used = integers(&outcome.radio, "uplink_used_bytes")[0].unwrap();
    assert!((2_050_000..2_300_000).contains(&used), "{used}");
}

#[test]
fn the_tunnel_is_paid_for_in_the_backhaul_and_not_before_it_or_on_the_air() {
    let udp = "[[flow]]\nkind = \"udp\"\nfrom = \"server\"\nto = \"ues\"\nrate = \"1 Mbit/s\"\n\
               packet_size = \"972 B\"\nsize = \"97200 B\"\n";
    for (profile, tunnel_bytes) in [("standard", 36), ("lena", 40)] {
        // A flow that outlasts the others lets everything arrive.
        let last = "[[flow]]\nkind = \"transfer\"\nfrom = \"server\"\nto = \"enb1\"\n\
                    size = \"1 kB\"\nstart = \"5 s\"\n";
        let access = format!("profile = \"{profile}\"\nues = 2\n{udp}{last}");
        let outcome = run(&network(2, &access), 1, None);
        let packets = 2 * 100;
        // The last flow has a SYN, its data, two acknowledgements and a FIN at most.
        let last = of_link(&outcome, "bytes", "server", "epc") - 1000 * packets;
        assert!(last < 2000, "{last}");
        let inside = of_link(&outcome, "bytes", "epc", "enb1");
        assert_eq!(inside, (1000 + tunnel_bytes) * packets + last, "{profile}");
        let beyond = of_link(&outcome, "bytes", "enb1", "enb2");
        assert_eq!(beyond, (1000 + tunnel_bytes) * packets / 2, "{profile}");
        for enodeb in ["enb1", "enb2"] {
            let air = of_link(&outcome, "bytes", enodeb, &format!("{enodeb}:ues"));
            assert_eq!(air, 1000 * packets / 2, "{profile}");
        }
    }
}

#[test]
fn a_ue_is_served_by_the_cell_that_it_receives_best_or_the_one_that_it_is_given() {
    let access = "[[access.ue]]\nx = \"400 m\"\ny = \"30 m\"\n\
                  [[access.ue]]\nx = \"400 m\"\ny = \"30 m\"\nserving = \"enb1\"\n";
    let outcome = run(&network(2, &format!("{access}{DOWNLOAD}")), 1, None);
    let serving = texts(&outcome.radio, "serving");
    assert_eq!(serving, [Some("enb2".to_owned()), Some("enb1".to_owned())]);
    let sinr_db = floats(&outcome.radio, "sinr_mean_db");
    assert!(sinr_db[0] > sinr_db[1], "{sinr_db:?}");
    // Where they are stands with the nodes.
    let attach = texts(&outcome.nodes, "attach");
    assert!(attach.ends_with(&serving));
    assert!(floats(&outcome.nodes, "x_m").ends_with(&[Some(400.0); 2]));
}

#[test]
fn ues_stand_within_the_spread_and_elsewhere_with_another_seed() {
    let access = "ues = 40\nspread = \"100 m\"\n[[flow]]\nkind = \"download\"\nsize = \"10 kB\"\n";
    let places = |seed| {
        let outcome = run(&network(1, access), seed, None);
        let [x, y] = ["x_m", "y_m"].map(|name| floats(&outcome.nodes, name));
        let ues = x.into_iter().zip(y).skip(3);
        ues.map(|(x, y)| (x.unwrap(), y.unwrap()))
            .collect::<Vec<_>>()
    };
    let (first, other) = (places(1), places(2));
    assert_eq!(first.len(), 40);
    assert!(
        first
            .iter()
            .all(|(x, y)| x.abs() <= 100.0 && y.abs() <= 100.0)
    );
    // Of 40 uniform places the outermost is beyond 80 m but for 0.8⁴⁰ = 0.013 %.
    assert!(first.iter().any(|(x, _)| x.abs() > 80.0));
    assert!(first.iter().zip(&other).all(|(a, b)| a != b));
}

#[test]
fn what_each_mcs_carried_adds_up_to_what_each_ue_was_granted() {
    let access = "[[access.ue]]\nnear = \"enb1\"\ndistance = \"600 m\"\nspeed = \"60 km/h\"\n\
                  heading = \"outward\"\n[[access.ue]]\nnear = \"enb1\"\ndistance = \"200 m\"\n";
    let outcome = run(
        &network(1, &format!("fading = \"eva\"\n{access}{DOWNLOAD}")),
        1,
        None,
    );
    let sum_of = |ue: &str, column: &str| {
        let rows = texts(&outcome.mcs, "ue")
            .into_iter()
            .zip(texts(&outcome.mcs, "direction"));
        let values = integers(&outcome.mcs, column);
        rows.zip(values)
            .filter(|((of, direction), _)| {
                of.as_deref() == Some(ue) && direction.as_deref() == Some("down")
            })
            .map(|(_, value)| value.unwrap())
            .sum::<u64>()
    };
    for (index, ue) in ["ue1", "ue2"].into_iter().enumerate() {
        for column in ["granted_bytes", "used_bytes"] {
            let whole = integers(&outcome.radio, column)[index].unwrap();
            assert_eq!(sum_of(ue, column), whole, "{ue} {column}");
        }
    }
    let mcs_used = integers(&outcome.mcs, "mcs").len();
    assert!(mcs_used > 4, "a UE that fades uses several: {mcs_used}");
}

#[test]
fn the_series_of_the_radio_adds_up_to_its_table() {
    let access = "ues = 2\nspread = \"300 m\"\n";
    let record = "[record]\nseries = [\"radio\"]\ninterval = \"50 ms\"\nflows = [\"ue2\"]\n";
    let outcome = run(&network(1, &format!("{access}{DOWNLOAD}{record}")), 1, None);
    let (name, series) = &outcome.series[0];
    assert_eq!(*name, "radio");
    assert!(
        texts(series, "entity")
            .iter()
            .all(|ue| ue.as_deref() == Some("ue2"))
    );
    let granted: u64 = integers(series, "granted_bytes")
        .into_iter()
        .flatten()
        .sum();
    let whole = integers(&outcome.radio, "granted_bytes")[1].unwrap();
    // What came after the last sample is missing: at most 50 ms at the full rate.
    assert!(
        granted <= whole && whole - granted < 500_000,
        "{granted} of {whole}"
    );
    let queue = integers(series, "queue_pkts").into_iter().flatten().max();
    assert!(queue > Some(100) && queue <= Some(750), "{queue:?}");
    let without = run(&network(1, &format!("{access}{DOWNLOAD}")), 1, None);
    assert_eq!(outcome.summary.digest, without.summary.digest);
}

#[test]
fn a_mesh_under_any_routing_carries_what_its_cells_need() {
    for routing in ROUTINGS {
        let text = common::grid(routing, 12).replace("kind = \"ideal\"", "kind = \"lte\"");
        let text = text
            .lines()
            .filter(|line| !line.starts_with("rate = \"350") && *line != "delay = \"10 ms\"")
            .collect::<Vec<_>>()
            .join("\n");
        let outcome = run(&text, 1, None);
        assert_eq!(outcome.summary.ended.name(), "flows finished", "{routing}");
        assert_eq!(run(&text, 1, None).summary.digest, outcome.summary.digest);
    }
}

/// From 100 m beside one eNodeB to the other one at 120 km/h: 400 m in 12 s, so that a
/// download goes over from one cell to the other half way.
#[test]
fn a_download_follows_its_ue_from_cell_to_cell_under_any_routing() {
    for routing in ["shortest-path", "olsr", "bp-mr"] {
        let text = network(
            2,
            &format!(
                "[[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\nspeed = \"120 km/h\"\n\
                 heading = \"outward\"\nuntil = \"500 m\"\n\
                 [routing]\nprotocol = \"{routing}\"\nwarm_up = \"15 s\"\n\
                 [[flow]]\nkind = \"download\"\nsize = \"60 MB\"\n"
            ),
        );
        let outcome = run(&text, 1, None);
        assert_eq!(outcome.summary.ended.name(), "flows finished", "{routing}");
        assert_eq!(
            integers(&outcome.radio, "handovers")[0],
            Some(1),
            "{routing}"
        );
        assert_eq!(texts(&outcome.radio, "serving")[0].as_deref(), Some("enb2"));
        let no_route = ("no_route", 0);
        assert!(
            outcome.summary.dropped_by_cause.contains(&no_route),
            "{routing}"
        );
        // Lossless: RLC's packets are forwarded, so that TCP has no timeout.
        assert_eq!(integers(&outcome.flows, "rtos")[0], Some(0), "{routing}");
    }
}

#[test]
fn a_ue_out_of_reach_and_an_extrapolated_path_loss_are_remarked_once() {
    let remarks = |access: &str| {
        let scenario = common::resolve(&network(2, access));
        let remarks = backlane_world::remarks(&scenario, 1, "s.toml").unwrap();
        let texts = remarks
            .into_iter()
            .map(|remark| (remark.code, remark.message));
        texts.collect::<Vec<_>>()
    };
    assert_eq!(remarks("ues = 3\nspread = \"100 m\"\n"), []);
    let far = "[[access.ue]]\nx = \"-40 km\"\ny = \"0 m\"\n";
    let found = remarks(&format!(
        "{far}[[access.ue]]\nx = \"0 m\"\ny = \"90 m\"\n{far}"
    ));
    // 30 dBm on 100 blocks, 36 + 26 log(40 000) dB of loss, noise of −112.4 dBm, 1 dB lost.
    let expected = "ue1 is out of reach: its SNR from enb1 is -34.2 dB, and one other";
    assert_eq!(found, [("S102", expected.to_owned())]);
    let hata = "ues = 40\nspread = \"50 m\"\npath_loss = \"okumura-hata\"\n";
    let found = remarks(hata);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "S103");
    assert!(found[0].1.contains("2655 MHz"), "{found:?}");
    assert!(found[0].1.ends_with(", and 39 others)"), "{found:?}");
    let ideal = "[access]\nkind = \"ideal\"\nues = 1\n";
    let text = network(1, "ues = 1").replace("[access]\nkind = \"lte\"\nues = 1", ideal);
    let ideal = backlane_world::remarks(&common::resolve(&text), 1, "s.toml").unwrap();
    assert!(ideal.is_empty());
}

/// Half of the blocks are lost and none is sent twice by HARQ, and RLC gives up after one
/// retransmission: soon the UE comes back in the cell that it hears better, whose router is then
/// the exit.
#[test]
fn a_ue_that_loses_its_link_while_it_stands_is_found_in_its_new_cell() {
    let access = "enodeb_power = \"20 dBm\"\nadaptation = { target_bler = 0.5 }\nharq = { max_transmissions = 1 }\n\
                  rlc = { mode = \"am\", max_retransmissions = 1 }\n\
                  [[access.ue]]\nx = \"350 m\"\ny = \"0 m\"\nserving = \"enb1\"\n";
    let outcome = run(&network(2, &format!("{access}{DOWNLOAD}")), 1, None);
    let failures = integers(&outcome.radio, "radio_link_failures")[0];
    assert!(failures > Some(0), "{failures:?}");
    assert_eq!(texts(&outcome.radio, "serving")[0].as_deref(), Some("enb2"));
    assert!(outcome.summary.dropped_by_cause.contains(&("no_route", 0)));
    // What arrived after the failure came through the new cell.
    assert!(of_link(&outcome, "bytes", "enb2", "enb2:ues") > 1_000_000);
}

/// A buffer of 750 packets goes over a wire whose queue holds 340: none is lost on the way.
#[test]
fn a_forwarded_buffer_does_not_overflow_the_backhaul() {
    let walk = "fading = \"eva\"\n[[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\n\
                speed = \"120 km/h\"\nheading = \"outward\"\n\
                [[flow]]\nkind = \"download\"\nsize = \"endless\"\n";
    let outcome = run(&network(2, walk), 1, None);
    assert_eq!(integers(&outcome.radio, "handovers"), [Some(1)]);
    let forwarded = of_link(&outcome, "packets", "enb1", "enb2");
    assert!(forwarded > 1000, "{forwarded}");
    assert_eq!(of_link(&outcome, "drops", "enb1", "enb2"), 0);
}

/// From 100 m beside one eNodeB to the other in 12 s, as a trace.
#[test]
fn a_ue_goes_the_way_of_its_trace() {
    let access = "[[access.ue]]\ntrace = \"walk.csv\"\n\
                  [[trace]]\nfile = \"walk.csv\"\nof = \"way\"\n\
                  source = \"time_s,x_m,y_m\\n0,100,0\\n12,500,0\\n\"\n\
                  [routing]\nwarm_up = \"3 s\"\n\
                  [record]\nseries = [\"radio\"]\ninterval = \"1 s\"\n";
    let long = DOWNLOAD.replace("5 MB", "60 MB");
    let outcome = run(&network(2, &format!("{access}{long}")), 1, None);
    assert_eq!(integers(&outcome.radio, "handovers")[0], Some(1));
    let place = [floats(&outcome.nodes, "x_m"), floats(&outcome.nodes, "y_m")];
    assert_eq!(
        place.map(|of| *of.last().unwrap()),
        [Some(100.0), Some(0.0)]
    );
    let series = &outcome.series[0].1;
    let times = floats(series, "time_s").into_iter().flatten();
    let serving = texts(series, "serving").into_iter().flatten();
    let over = times
        .zip(serving)
        .find(|(_, cell)| cell == "enb2")
        .unwrap()
        .0;
    // 3 dB better by 36 + 26 log d is at 283 m of 500, after 5.5 s; 256 ms and the filter more.
    assert!((6.0..9.0).contains(&over), "{over}");
}
