//! The section [routing].

mod catalogue;

use catalogue::check;
/// What is wrong with this routing over a chain of radios.
fn problems(routing: &str) -> String {
    let text = format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 3\nlink = {{ medium = \"wifi\" }}\n\
         [wifi]\n[routing]\n{routing}\
         [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb3\"\nsize = \"1 MB\"\n"
    );
    match check(&text, "test.toml", &[]) {
        Ok(_) => String::new(),
        Err(report) => report.to_string(),
    }
}

#[test]
fn etx_needs_a_window_of_two_hellos() {
    let olsr = "protocol = \"olsr\"\nhello_interval = \"500 ms\"\n";
    let aodv = "protocol = \"aodv\"\n";
    for (protocol, short, enough) in [(olsr, "999 ms", "1 s"), (aodv, "1999 ms", "2 s")] {
        let with = |metric: &str, window: &str| {
            problems(&format!(
                "{protocol}metric = \"{metric}\"\nquality_window = \"{window}\"\n"
            ))
        };
        let refused = with("etx", short);
        assert!(refused.starts_with("error[S017]"), "{refused}");
        assert!(
            refused.contains(&format!("write quality_window = \"{enough}\" or more")),
            "{refused}"
        );
        assert_eq!(with("etx", enough), "");
        // Nothing is measured for the metric "hops".
        assert_eq!(with("hops", short), "");
    }
    let seldom = problems("protocol = \"olsr\"\nmetric = \"etx\"\nhello_interval = \"17 s\"\n");
    assert!(seldom.starts_with("error[S017]"), "{seldom}");
    assert!(seldom.contains("hello_interval = \"17 s\""), "{seldom}");
}

#[test]
fn tcp_aware_backpressure_sends_no_messages_within_a_millisecond() {
    for key in ["report_idle", "report_interval", "retry"] {
        let with = |time: &str| {
            problems(&format!(
                "protocol = \"tcp-aware-bp\"\n{key} = \"{time}\"\n"
            ))
        };
        let refused = with("999 us");
        assert!(refused.starts_with("error[S017]"), "{refused}");
        assert!(refused.contains(key), "{refused}");
        assert_eq!(with("1 ms"), "");
    }
}

#[test]
fn l25r_refuses_what_its_keys_cannot_be() {
    let with = |line: &str| problems(&format!("protocol = \"l2.5r\"\n{line}\n"));
    for (line, code, mend) in [
        ("allocation = \"data-ack\"", "S013", "data+ack"),
        ("extra_hops = 33", "S017", "32"),
        ("failure_threshold = 0", "S020", "from 1 to 255"),
        ("aging = \"0 s\"", "S020", "routing aging is zero"),
        ("burst_gap = \"never\"", "S013", "off"),
        ("repin_period = 5", "S014", "\"5 s\""),
        ("burst_gab = \"5 ms\"", "S010", "burst_gap"),
    ] {
        let refused = with(line);
        assert!(refused.starts_with(&format!("error[{code}]")), "{refused}");
        assert!(refused.contains(mend), "{refused}");
    }
    let all = "allocation = \"ack\"\nburst_gap = \"5 ms\"\nrepin_period = \"5 s\"\n\
               extra_hops = 0\ndeliver_directly = false\nfailure_threshold = 1\n\
               blacklist = \"1 s\"\naging = \"off\"\nflow_idle = \"1 s\"";
    assert_eq!(with(all), "");
}
