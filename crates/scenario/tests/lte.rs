//! LTE access in a file: what its profile means, where UEs are, and what is refused.

mod catalogue;

use backlane_scenario::Scenario;
use backlane_scenario::model::lte::LteUe;
use backlane_scenario::model::{AccessKind, Lte, Placement};
use backlane_units::Duration;
use catalogue::{check, plan};

/// Two eNodeBs 500 m apart along x.
const NETWORK: &str = "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
    spacing = \"500 m\"\nlink = { rate = \"1 Gbit/s\", delay = \"4 ms\" }\n\
    [[server]]\nattach = \"enb1\"\nlink = { rate = \"1 Gbit/s\", delay = \"4 ms\" }\n\
    [[flow]]\nkind = \"download\"\nsize = \"endless\"\n";

fn scenario(access: &str) -> Scenario {
    let text = format!("{NETWORK}[access]\nkind = \"lte\"\n{access}");
    catalogue::parse(&text, "s.toml").unwrap_or_else(|report| panic!("{report}"))
}

fn lte(access: &str) -> Lte {
    match scenario(access).access.unwrap().kind {
        AccessKind::Lte(lte) => *lte,
        other => panic!("{other:?}"),
    }
}

/// The value of a key of the access network, as TOML.
fn value(access: &str, path: &str) -> String {
    let mut values = lte(access).values;
    let mut words = path.split('.').peekable();
    while let Some(word) = words.next() {
        if words.peek().is_none() {
            return values.get(word).map_or(String::new(), ToString::to_string);
        }
        values = values.table(word).unwrap().clone();
    }
    String::new()
}

fn ue(ue: &str) -> LteUe {
    lte(&format!("[[access.ue]]\n{ue}")).ues[0]
}

/// The codes and messages of a refused file.
fn problems(access: &str) -> Vec<String> {
    let text = format!("{NETWORK}[access]\nkind = \"lte\"\n{access}");
    let report = check(&text, "s.toml", &[]).unwrap_err();
    let problems = report.diagnostics.into_iter();
    problems
        .map(|d| format!("{} {}", d.code, d.message))
        .collect()
}

#[test]
fn the_lena_profile_sets_defaults_and_no_more() {
    let lena = |path: &str| {
        let text = "ues = 2\nprofile = \"lena\"\nharq = { max_transmissions = 3 }\n";
        value(text, path)
    };
    assert_eq!(lena("antenna_ports"), "1");
    assert_eq!(lena("control_symbols"), "3");
    assert_eq!(lena("harq.round_trip"), "\"7 ms\"");
    assert_eq!(lena("harq.max_transmissions"), "3");
    assert_eq!(lena("code_rate_limit"), "\"none\"");
    assert_eq!(lena("uplink.requests"), "\"ideal\"");
    assert_eq!(lena("tunnel"), "\"40 B\"");
    let own = |path: &str| {
        let text = "ues = 2\nprofile = \"lena\"\nantenna_ports = 2\n\
                    harq = { round_trip = \"8 ms\" }\nuplink = { requests = \"scheduled\" }\n";
        value(text, path)
    };
    assert_eq!(own("antenna_ports"), "2");
    assert_eq!(own("harq.round_trip"), "\"8 ms\"");
    assert_eq!(own("uplink.sr_period"), "\"10 ms\"");
    // A section of which the file gives only the tag has the profile's defaults as well.
    let round_robin = "ues = 2\nprofile = \"lena\"\nscheduler = \"round-robin\"\n";
    assert_eq!(value(round_robin, "scheduler.worst_rbg_mcs"), "true");
}

#[test]
fn each_mode_of_rlc_has_its_own_defaults_in_the_lena_profile() {
    let t_reordering = |mode: &str, profile: &str| {
        let text = format!("ues = 2\nprofile = \"{profile}\"\nrlc = {{ mode = \"{mode}\" }}\n");
        value(&text, "rlc.t_reordering")
    };
    assert_eq!(t_reordering("am", "lena"), "\"10 ms\"");
    assert_eq!(t_reordering("um", "lena"), "\"100 ms\"");
    assert_eq!(t_reordering("am", "standard"), "\"35 ms\"");
    assert_eq!(t_reordering("um", "standard"), "\"35 ms\"");
}

#[test]
fn what_the_profile_means_is_marked_as_a_default_and_resolves_to_itself() {
    for access in [
        "ues = 2\nprofile = \"lena\"\nmac_headers = true\n",
        "per_enodeb = { enb1 = 3 }\nprofile = \"lena\"\nscheduler = \"max-cqi\"\n",
        "spread = \"100 m\"\nues = 4\nrlc = { mode = \"um\", aqm = \"codel\" }\n",
        "[[access.ue]]\nnear = \"enb1\"\ndistance = \"10 m\"\nspeed = \"3 km/h\"\nheading = \"45 deg\"\n",
    ] {
        let text = format!("{NETWORK}[access]\nkind = \"lte\"\n{access}");
        let resolved = plan(&text, "s.toml", &[], None).unwrap().cells[0]
            .resolved
            .clone();
        let again = plan(&resolved, "s.toml", &[], None).unwrap();
        assert_eq!(again.cells[0].resolved, resolved);
        if access.contains("lena") {
            assert!(resolved.contains("round_trip = \"7 ms\" # default\n"));
            assert!(resolved.contains("requests = \"ideal\" # default\n"));
        }
        if access.contains("mac_headers") {
            assert!(resolved.contains("mac_headers = true\n"), "{resolved}");
        }
    }
}

#[test]
fn a_ue_is_where_its_distance_and_bearing_say() {
    let at = |text: &str| ue(text).position_m;
    assert_eq!(at("near = \"enb2\"\ndistance = \"100 m\""), (600.0, 0.0));
    let (x, y) = at("near = \"enb2\"\ndistance = \"100 m\"\nbearing = \"90 deg\"");
    assert!((x - 500.0).abs() < 1e-9 && (y - 100.0).abs() < 1e-9);
    assert_eq!(at("x = \"-1 km\"\ny = \"2 m\""), (-1000.0, 2.0));
}

#[test]
fn a_ue_moves_outward_or_inward_until_a_distance() {
    let base = "near = \"enb1\"\ndistance = \"300 m\"\nbearing = \"90 deg\"\nspeed = \"36 km/h\"\n";
    let motion = |more: &str| ue(&format!("{base}{more}")).motion.unwrap();
    let out = motion("heading = \"outward\"\nuntil = \"800 m\"\nstart = \"2 s\"");
    assert!((out.velocity_m_per_s.1 - 10.0).abs() < 1e-9);
    assert!(out.velocity_m_per_s.0.abs() < 1e-9);
    assert_eq!(
        (out.start, out.time),
        (Duration::from_secs(2), Some(Duration::from_secs(50)))
    );
    let inward = motion("heading = \"inward\"\nuntil = \"100 m\"");
    assert!((inward.velocity_m_per_s.1 + 10.0).abs() < 1e-9);
    assert_eq!(inward.time, Some(Duration::from_secs(20)));
    assert_eq!(motion("heading = \"180 deg\"").time, None);
}

#[test]
fn a_listed_ue_belongs_to_the_enodeb_that_serves_it_or_the_nearest() {
    let text = "[[access.ue]]\nx = \"400 m\"\ny = \"0 m\"\n\
                [[access.ue]]\nx = \"400 m\"\ny = \"0 m\"\nserving = \"enb1\"\n";
    let access = scenario(text).access.unwrap();
    assert_eq!(access.placement, Placement::Listed(vec![1, 0]));
    let AccessKind::Lte(lte) = access.kind else {
        panic!();
    };
    assert_eq!([lte.ues[0].serving, lte.ues[1].serving], [None, Some(0)]);
}

#[test]
fn a_buffer_is_in_packets_bytes_or_time() {
    for text in ["750 packets", "375 kB", "100 ms"] {
        let access = format!("ues = 1\nrlc = {{ buffer = \"{text}\" }}\n");
        assert_eq!(value(&access, "rlc.buffer"), format!("\"{text}\""));
    }
    let refused = problems("ues = 1\nrlc = { buffer = \"1 bdp\" }\n");
    assert_eq!(refused, ["S022 rlc buffer cannot be read"]);
}

#[test]
fn quantities_of_radio_need_their_units_and_ranges() {
    let refused = problems(
        "ues = 1\nenodeb_power = 30\nue_noise_figure = \"9 dBm\"\nlayers = 3\n\
         decision_to_air = \"1.5 ms\"\ncarrier = [{ frequency = \"2.6 MHz\" }]\n\
         path_loss = { model = \"log-distance\", exponent = 3.5 }\n",
    );
    assert_eq!(
        refused,
        [
            "S014 access enodeb_power needs a unit",
            "S015 access ue_noise_figure has a unit that is not known here: \"dBm\"",
            "S017 access layers is out of range",
            "S019 access decision_to_air is not a whole number of subframes",
            "S017 carrier frequency is too small",
            "S011 path_loss reference_loss is missing",
        ]
    );
    let friis = "ues = 1\npath_loss = \"friis\"\n";
    assert_eq!(value(friis, "path_loss.model"), "\"friis\"");
}

#[test]
fn ues_are_counted_or_listed() {
    let refused = problems("ues = 1\n[[access.ue]]\nx = \"0 m\"\ny = \"0 m\"\n");
    assert_eq!(
        refused,
        ["S100 UEs are listed one by one, and ues is given"]
    );
}

#[test]
fn a_link_is_not_in_sync_and_out_of_sync_at_once() {
    let found = problems("ues = 1\nradio_link = { in_sync = \"-6 dB\" }\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("in sync and out of sync"), "{found:?}");
    let handover = "ues = 1\nhandover = { hysteresis = \"1 dB\" }\n";
    assert_eq!(value(handover, "handover.hysteresis"), "\"1 dB\"");
}

#[test]
fn a_trace_of_places_becomes_part_of_the_resolved_scenario() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diagnostics/s.toml");
    let text = |file: &str| {
        format!("{NETWORK}[access]\nkind = \"lte\"\n[[access.ue]]\ntrace = \"files/{file}\"\n")
    };
    let plan = plan(&text("good_walk.csv"), here, &[], None).unwrap();
    let resolved = &plan.cells[0].resolved;
    assert!(resolved.contains("0,0,0\n10,100,5\n"), "{resolved}");
    let access = catalogue::from_resolved(resolved).unwrap().access.unwrap();
    assert_eq!(access.placement, Placement::Listed(vec![0]));
    let AccessKind::Lte(lte) = access.kind else {
        panic!("not LTE");
    };
    let way: Vec<_> = lte.ways[0]
        .iter()
        .map(|place| (place.at, place.position_m))
        .collect();
    let ten_seconds = Duration::from_secs(10);
    assert_eq!(
        way,
        [(Duration::ZERO, (0.0, 0.0)), (ten_seconds, (100.0, 5.0))]
    );
    let refused = check(&text("walk.csv"), here, &[]).unwrap_err();
    let codes: Vec<_> = refused
        .diagnostics
        .iter()
        .map(|d| (d.code, d.line))
        .collect();
    assert_eq!(codes, [("S091", Some(4))]);
}
