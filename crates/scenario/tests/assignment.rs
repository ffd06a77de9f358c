//! The section `[assignment]`: what it takes for demands, and what it writes.

mod catalogue;

use backlane_scenario::model::{Link, Scenario};
use catalogue::{check, plan};

/// Nine routers in a grid over radios, a gateway wired to two corners, and a server behind it.
fn grid(assignment: &str, routing: &str) -> String {
    format!(
        "duration = \"2 s\"\n[topology]\nkind = \"grid\"\nrows = 3\ncolumns = 3\n\
         link = {{ medium = \"wifi\" }}\n\
         [[gateway]]\nattach = [\"enb1\", \"enb3\"]\nlink = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [access]\nkind = \"ideal\"\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\nues = 9\n\
         [wifi]\n[routing]\nprotocol = \"{routing}\"\n[assignment]\nchannels = \"fcra\"\n{assignment}\n\
         [[flow]]\nkind = \"download\"\nfrom = \"server\"\nto = \"ues\"\nsize = \"100 kB\"\n"
    )
}

fn scenario(text: &str) -> Scenario {
    catalogue::parse(text, "test.toml").unwrap_or_else(|report| panic!("{report}"))
}

fn codes(text: &str) -> Vec<&'static str> {
    let report = check(text, "test.toml", &[]).unwrap_err();
    report
        .diagnostics
        .iter()
        .map(|problem| problem.code)
        .collect()
}

/// What is sent to a node and from it.
fn through(scenario: &Scenario, node: &str) -> [u64; 2] {
    let is = |index: usize| scenario.nodes[index].id == node;
    let over_radios = |link: &&Link| link.radio().is_some();
    let mut sums = [0; 2];
    for link in scenario.links.iter().filter(over_radios) {
        let [there, back] = link.flow_rates_bps.unwrap();
        if is(link.b) {
            sums = [sums[0] + there, sums[1] + back];
        } else if is(link.a) {
            sums = [sums[0] + back, sums[1] + there];
        }
    }
    sums
}

#[test]
fn a_download_from_behind_the_gateway_comes_over_the_nearest_corner() {
    let scenario = scenario(&grid("", "shortest-path"));
    // enb4 and enb7 are below enb1, enb6 and enb9 below enb3; the others are as near to both, and
    // are given the first. The UEs of both corners themselves need no radio.
    let [first_in, first_out] = through(&scenario, "enb1");
    let [other_in, other_out] = through(&scenario, "enb3");
    assert!(
        first_out > other_out && other_out > 0,
        "{first_out} {other_out}"
    );
    // Acknowledgments come back with a twentieth of it, to the bit that rounding makes.
    for (to, from) in [(first_in, first_out), (other_in, other_out)] {
        assert!((to as f64 - from as f64 / 20.0).abs() < 4.0, "{to} {from}");
    }
    // Wires are not assigned to, and carry what they can.
    let wires = scenario.links.iter().filter(|link| link.wire().is_some());
    let rates: Vec<_> = wires.map(|link| link.flow_rates_bps).collect();
    assert_eq!(
        rates,
        [Some([100_000_000; 2]), Some([100_000_000; 2]), None]
    );
}

#[test]
fn flows_that_the_demands_forget_are_told_where_the_routing_needs_them() {
    let demands = "demands = [{ from = \"server\", to = \"enb9\" }]";
    assert_eq!(codes(&grid(demands, "l2.5r")), ["S155"]);
    // Shortest paths go over every link.
    assert!(check(&grid(demands, "shortest-path"), "test.toml", &[]).is_ok());
}

#[test]
fn channels_that_are_to_be_found_are_not_given_too() {
    let text = grid("", "shortest-path");
    let with = |from: &str, to: &str| codes(&text.replace(from, to));
    assert_eq!(with("[wifi]", "[wifi]\nchannels = [1, 6]"), ["S154"]);
    assert_eq!(
        with("[wifi]", "[wifi]\nneighbours = \"in-range\""),
        ["S154"]
    );
    assert_eq!(with("\"fcra\"", "\"fcra\"\navailable = []"), ["S023"]);
    assert_eq!(with("\"fcra\"", "\"fcra\"\navailable = [1]"), ["S150"]);
    let sinr = "\"fcra\"\ninterference = \"sinr\"\n[wifi]\nstandard = \"802.11b\"";
    let text = text.replace("[wifi]\n", "").replace("\"fcra\"", sinr);
    assert_eq!(codes(&text), ["S154"]);
}

#[test]
fn geometry_knows_the_rates_of_ofdm_and_goes_down_to_no_others() {
    let text = |rate: &str, rates: &str| {
        let asked = format!("rates = \"{rates}\"\ninterference = \"sinr\"");
        let wifi = format!("[wifi]\nstandard = \"802.11g\"\nrate = \"{rate} Mbit/s\"\n");
        grid(&asked, "shortest-path").replace("[wifi]\n", &wifi)
    };
    let scenario = scenario(&text("54", "adjusted"));
    let links = scenario.links.iter().filter_map(Link::radio);
    let slowest = links.filter_map(|radio| radio.rate).min();
    assert!(slowest.is_none_or(|rate| rate.as_bps() >= 6_000_000));
    assert_eq!(codes(&text("11", "fixed")), ["S154"]);
}

#[test]
fn given_channels_are_no_more_than_the_radios_that_a_node_says() {
    let text = |radios: u8| {
        format!(
            "duration = \"2 s\"\n[topology]\nkind = \"graph\"\nnode = [\n\
             {{ id = \"a\", kind = \"router\", x = \"0 m\", y = \"0 m\", channels = [1] }},\n\
             {{ id = \"b\", kind = \"router\", x = \"9 m\", y = \"0 m\", radios = {radios} }},\n\
             {{ id = \"c\", kind = \"router\", x = \"18 m\", y = \"0 m\", channels = [6] }},\n]\n\
             link = [\n{{ a = \"a\", b = \"b\", medium = \"wifi\" }},\n\
             {{ a = \"b\", b = \"c\", medium = \"wifi\" }},\n]\n\
             [wifi]\nchannels = [1, 6]\n[assignment]\n[[flow]]\nkind = \"transfer\"\n\
             from = \"a\"\nto = \"c\"\nsize = \"1 MB\"\n"
        )
    };
    assert!(check(&text(2), "test.toml", &[]).is_ok());
    assert_eq!(codes(&text(1)), ["S150"]);
}

#[test]
fn a_sweep_of_flow_rates_finds_each_of_them() {
    let sweep = "[sweep]\n\"assignment.flow_rates\" = [\"throughput\", \"paths\", \"equal\"]\n";
    let text = grid("", "l2.5r") + sweep;
    let plan = plan(&text, "test.toml", &[], None).unwrap_or_else(|report| panic!("{report}"));
    let scenarios = plan
        .cells
        .iter()
        .map(|cell| catalogue::from_resolved(&cell.resolved).unwrap());
    let rates: Vec<Vec<_>> = scenarios
        .map(|scenario| {
            scenario
                .links
                .iter()
                .map(|link| link.flow_rates_bps)
                .collect()
        })
        .collect();
    assert_ne!(rates[0], rates[1]);
    assert_ne!(rates[1], rates[2]);
    let radios = rates[2].iter().take(12).flatten();
    let equal: Vec<_> = radios.copied().collect();
    assert!(equal.windows(2).all(|pair| pair[0] == pair[1]) && equal[0][0] == equal[0][1]);
}

#[test]
fn what_fits_on_the_channels_has_full_domains_and_no_overfull_ones() {
    for rule in ["throughput", "paths", "equal"] {
        let scenario = scenario(&grid(&format!("flow_rates = \"{rule}\""), "shortest-path"));
        let assignment = scenario.assignment.unwrap();
        let most = assignment
            .utilisation
            .iter()
            .flatten()
            .fold(0.0, |a: f64, b| a.max(*b));
        assert!(most <= 1.0 + 1e-6, "{rule} {most}");
        // What was scaled down fills the fullest.
        assert!(
            assignment.scale == 1.0 || most > 1.0 - 1e-6,
            "{rule} {most}"
        );
    }
}

/// Four routers on a way and beside it, with 36 Mbit/s on one link and two channels.
fn square(demands: &str) -> String {
    let node = |id: &str, radios: u8| {
        format!(
            "{{ id = \"{id}\", kind = \"router\", x = \"0 m\", y = \"0 m\", radios = {radios} }}"
        )
    };
    let link = |ends: &str, rate: &str| {
        let (a, b) = ends.split_at(1);
        format!("{{ a = \"{a}\", b = \"{b}\", medium = \"wifi\", rate = \"{rate} Mbit/s\" }}")
    };
    format!(
        "duration = \"2 s\"\n[topology]\nkind = \"graph\"\nnode = [{}, {}, {}, {}]\n\
         link = [{}, {}, {}, {}, {}]\n[wifi]\n[assignment]\nchannels = \"fcra\"\navailable = [1, 6]\n\
         ack_share = 0.1\nextra_hops = 2\ndemands = [{demands}]\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"a\"\nto = \"d\"\nsize = \"1 MB\"\n",
        node("a", 2),
        node("b", 2),
        node("c", 1),
        node("d", 2),
        link("ab", "54"),
        link("ac", "36"),
        link("bd", "54"),
        link("cd", "54"),
        link("bc", "54"),
    )
}

#[test]
fn a_demand_with_a_rate_is_met_and_the_others_get_what_is_left() {
    let both = |rate: u32| {
        square(&format!(
            "{{ from = \"a\", to = \"d\", rate = \"{rate} Mbit/s\" }}, {{ from = \"d\", to = \"b\" }}"
        ))
    };
    for rate in [9, 30] {
        let scenario = scenario(&both(rate));
        let [_, out] = through(&scenario, "a");
        assert!(out.abs_diff(u64::from(rate) * 1_000_000) < 4, "{out}");
        let assignment = scenario.assignment.as_ref().unwrap();
        assert!(assignment.scale > 1.0 - 1e-6, "{}", assignment.scale);
        let most = assignment
            .utilisation
            .iter()
            .flatten()
            .fold(0.0, |a: f64, b| a.max(*b));
        assert!(
            (most - 1.0).abs() < 1e-6,
            "the other demand fills what is left: {most}"
        );
    }
    // More than both of a's links could carry.
    assert_eq!(codes(&both(90)), ["S152"]);
    let with_paths = both(9).replace("ack_share", "flow_rates = \"paths\"\nack_share");
    assert_eq!(codes(&with_paths), ["S153"]);
}
