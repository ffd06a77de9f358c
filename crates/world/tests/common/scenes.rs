//! Networks whose runs are on record, and that other tests ask for more.

use super::{RADIO, ROUTINGS, WIFI, grid, three_ways};

/// Download over one LTE cell or two, 500 m apart.
fn lte(enodebs: usize, access: &str) -> String {
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"chain\"\nnodes = {enodebs}\n\
         spacing = \"500 m\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[gateway]]\nattach = \"enb1\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nattach = \"epc\"\nlink = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n\
         [[flow]]\nkind = \"download\"\nsize = \"4 MB\"\nto = [\"ue1\", \"ue2\"]\n\
         [[flow]]\nkind = \"upload\"\nsize = \"200 kB\"\nfrom = [\"ue1\", \"ue2\"]\n\
         [access]\nkind = \"lte\"\n{access}"
    )
}

/// Two UEs that fade, a near one that walks and a far one that drives.
pub fn fading_cell() -> String {
    lte(
        1,
        "fading = \"eva\"\nrlc = { mode = \"am\", buffer = \"100 packets\" }\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"200 m\"\nspeed = \"3 km/h\"\n\
         heading = \"outward\"\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"900 m\"\nspeed = \"60 km/h\"\n\
         heading = \"outward\"\n",
    )
}

/// Two cells that interfere, and a UE that is handed over from one to the other while the second
/// stands at the edge of both.
pub fn two_cells() -> String {
    lte(
        2,
        "[[access.ue]]\nnear = \"enb1\"\ndistance = \"240 m\"\nspeed = \"120 km/h\"\n\
         heading = \"outward\"\nuntil = \"500 m\"\n\
         [[access.ue]]\nx = \"200 m\"\ny = \"100 m\"\n",
    )
}

/// The diamond of the TCP-aware paper: two flows from A over ns-2's radios, one of whose links loses three attempts
/// in ten, under TCP-aware backpressure and network coding.
pub fn lossy_diamond() -> String {
    let node = |id: &str, x: u32, y: u32| {
        format!("{{ id = \"{id}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},")
    };
    let link = |a: &str, b: &str| format!("{{ a = \"{a}\", b = \"{b}\", medium = \"wifi\" }},");
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{}{}{}{}]\nlink = [{}{}{}{}]\n\
         [wifi]\nprofile = \"ns2\"\nrts_threshold = \"off\"\nloss = 0.3\nlossy_links = [\"A-B\"]\n\
         [routing]\nprotocol = \"tcp-aware-bp\"\n[coding]\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"A\"\nto = [\"B\", \"D\"]\nsize = \"endless\"\n",
        node("A", 250, 430),
        node("B", 110, 250),
        node("C", 390, 250),
        node("D", 250, 70),
        link("A", "B"),
        link("A", "C"),
        link("B", "D"),
        link("C", "D"),
    )
}

/// Routers with two radios each that find their neighbours in fading, and routes by ETX.
pub fn fading_mesh() -> String {
    let node = |number: u32| {
        let (x, y) = (130 * (number % 4), 110 * (number / 4));
        format!("{{ id = \"n{number}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},")
    };
    let nodes = (0..8).map(node).collect::<Vec<_>>().concat();
    format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nnode = [{nodes}]\n\
         [wifi]\nstandard = \"802.11g\"\nrate = \"12 Mbit/s\"\nantenna_gain = \"8 dB\"\n\
         fading = \"rayleigh\"\nneighbours = \"in-range\"\nchannels = [1, 6]\n\
         [routing]\nprotocol = \"olsr\"\nmetric = \"etx\"\nwarm_up = \"15 s\"\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"n0\"\nto = [\"n3\", \"n7\"]\nsize = \"1 MB\"\n\
         [[flow]]\nkind = \"udp\"\nfrom = \"n4\"\nto = \"n2\"\nrate = \"500 kbit/s\"\n"
    )
}

/// Two flows over three ways at once, and a station on one of them that dies.
pub fn many_ways() -> String {
    let flows = "[[flow]]\nkind = \"transfer\"\nfrom = \"S\"\nto = \"R\"\nsize = \"endless\"\n\
                 count = 2\n[[failure]]\nnode = \"a1\"\nat = \"2 s\"\n";
    three_ways(RADIO, "allocation = \"data\"", &format!("{WIFI}{flows}"))
}

/// The scenes by name.
pub fn all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let names = [
        "shortest path",
        "olsr",
        "bp-mr per packet",
        "bp-mr per flow",
    ];
    for (name, routing) in names.into_iter().zip(ROUTINGS) {
        for control in ["reno", "cubic", "vegas"] {
            let text = format!(
                "{}[tcp]\ncongestion_control = \"{control}\"\n",
                grid(routing, 25).replace("1 MB", "4 MB")
            );
            all.push((format!("{name}, {control}"), text));
        }
    }
    let named = [
        ("lte, one cell, fading", fading_cell()),
        ("lte, two cells, handover", two_cells()),
        ("wifi, lossy diamond, tcp-aware-bp, coding", lossy_diamond()),
        ("wifi, fading, two channels, olsr with etx", fading_mesh()),
        ("wifi, three ways, l2.5r, a failure", many_ways()),
    ];
    all.extend(named.map(|(name, text)| (name.to_owned(), text)));
    all
}
