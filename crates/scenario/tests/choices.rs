//! What a file can choose between.

use backlane_scenario::choices;

#[test]
fn choices_are_words_numbers_and_yes_or_no_wherever_they_stand() {
    let all = choices(backlane_world::catalogue());
    for (path, value) in [
        ("tcp.congestion_control", "cubic"),
        ("flow.congestion_control", "bbr"),
        ("routing.protocol", "aodv"),
        ("topology.link.queue.discipline", "codel"),
        ("access.rlc.mode", "am"),
        ("slotted.flow.arrivals", "window"),
        ("access.layers", "2"),
        ("coding.payload", "false"),
        ("wifi.rts_threshold", "off"),
    ] {
        let choice = (path.to_owned(), value.to_owned());
        assert!(all.contains(&choice), "{choice:?}");
    }
    assert!(!all.iter().any(|(path, _)| path == "name"));
}
