//! CPU time of whole scenarios, and of the functions that radio access calls most.
//!
//! `backlane-bench [WORD]` runs the scenes whose name contains WORD and prints, for each, the
//! CPU time of this thread (the machine may be shared, so wall time means little) and the rates
//! that follow. Every scene runs three times; the minimum CPU time counts, since noise only adds.
//!
//! `backlane-bench [--threads N] FILE.toml [KEY=VALUE …]` runs the first cell of a scenario file
//! once, and prints also the CPU time of resolving and reading it, the wall time of the run, and the
//! peak memory.
//!
//! `backlane-bench --write FOLDER` writes the scenes that are scenarios as files.

mod functions;
mod lte;
mod wifi;

use std::path::Path;
use std::time::Instant;

use backlane_net::{QueueConfig, QueueLimit};
use backlane_testkit::Dumbbell;
use backlane_testkit::scenes::grid;
use backlane_units::{Duration, Rate};
use backlane_world::{Models, Supplied, Threads, World};
use cpu_time::{ProcessTime, ThreadTime};

const REPEATS: usize = 3;

/// The measures of one execution of a scene.
struct Work {
    simulated_s: f64,
    delivered_pkts: u64,
    packet_hops: u64,
    events: u64,
    /// Resolving the scenario file, and reading the resolved text.
    read_s: [f64; 2],
    /// Building the world: nodes, links, routes.
    build_s: f64,
    /// Running it, on all its threads.
    cpu_s: f64,
    /// Running it, by the clock.
    wall_s: f64,
    /// The threads that ran it.
    threads: usize,
    /// The digest of the run.
    digest: u64,
}

fn dumbbell(mbps: u64, flows: usize, seconds: u64) -> Work {
    let dumbbell = Dumbbell {
        rate: Rate::from_bps(mbps * 1_000_000),
        queue: QueueConfig::DropTail(QueueLimit::BandwidthDelayProduct(1.0)),
        flows: vec![backlane_tcp::Config::default(); flows],
        ..Dumbbell::default()
    };
    let start = ThreadTime::now();
    let simulation = dumbbell.run(Duration::from_secs(seconds));
    let cpu_s = start.elapsed().as_secs_f64();
    Work {
        simulated_s: seconds as f64,
        delivered_pkts: simulation
            .application
            .flows()
            .iter()
            .map(|f| f.delivery.packets)
            .sum(),
        packet_hops: simulation
            .network
            .links()
            .iter()
            .map(|l| l.counters().packets)
            .sum(),
        events: simulation.fired(),
        read_s: [0.0; 2],
        build_s: 0.0,
        cpu_s,
        wall_s: cpu_s,
        threads: 1,
        digest: simulation.digest(),
    }
}

/// A scenario from its text; reading the file does not count.
fn scenario(text: &str) -> Work {
    cell(text, "bench.toml", &[], 1)
}

/// The first cell of a scenario file.
fn cell(text: &str, path: &str, overrides: &[(String, String)], threads: usize) -> Work {
    let start = ThreadTime::now();
    let plan = backlane_world::catalogue()
        .plan(text, path, overrides, None)
        .unwrap_or_else(|report| panic!("{report}"));
    let plan_s = start.elapsed().as_secs_f64();
    let start = ThreadTime::now();
    let scenario = backlane_world::catalogue()
        .from_resolved(&plan.cells[0].resolved)
        .unwrap_or_else(|report| panic!("{report}"));
    let read_s = [plan_s, start.elapsed().as_secs_f64()];
    drop(plan);
    let start = ThreadTime::now();
    let supplied = Supplied {
        threads: Threads::Exactly(threads),
        ..Supplied::default()
    };
    let models = Models::standard();
    let world = World::watched(models, supplied, &scenario, 1, None, |_, _| Ok(()));
    let Ok(Ok(world)) = world else {
        panic!("{path} cannot be built");
    };
    let build_s = start.elapsed().as_secs_f64();
    let threads = world.threads();
    let (start, wall) = (ProcessTime::now(), Instant::now());
    let Ok(outcome) = world.run(|_, _| Ok(())) else {
        unreachable!("nothing interrupts")
    };
    let (cpu_s, wall_s) = (start.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    Work {
        simulated_s: outcome.summary.simulated_s,
        delivered_pkts: outcome.summary.packets_delivered,
        packet_hops: outcome.summary.packet_hops,
        events: outcome.summary.events,
        read_s,
        build_s,
        cpu_s,
        wall_s,
        threads,
        digest: outcome.summary.digest,
    }
}

/// Square grids of growing size in which every node sends to a node two rows and two columns
/// off, so that the work for each node is the same.
fn mesh(side: usize) -> String {
    let node = |row: usize, column: usize| format!("\"enb{}\"", row * side + column + 1);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for row in 0..side {
        for column in 0..side {
            from.push(node(row, column));
            let off = |at: usize| if at + 2 < side { at + 2 } else { at - 2 };
            to.push(node(off(row), off(column)));
        }
    }
    // The larger the mesh, the shorter the run, but at least 100 packets from every node, so
    // that first accesses to memory do not count.
    let duration_ms = (100_000_000 / (side * side * 400)).max(200);
    format!(
        r#"
name = "mesh"
duration = "{duration_ms} ms"
[topology]
kind = "grid"
rows = {side}
columns = {side}
spacing = "200 m"
link = {{ rate = "500 Mbit/s", delay = "1 ms", queue = "100 packets" }}
[routing]
protocol = "shortest-path"
[[flow]]
kind = "udp"
rate = "4 Mbit/s"
packet_size = "1000 B"
from = [{}]
to = [{}]
start = "uniform 0 s 2 ms"
"#,
        from.join(", "),
        to.join(", ")
    )
}

/// Names and texts of the scenes that are scenarios.
fn scenarios() -> Vec<(String, String)> {
    let routings = [
        ("shortest path", "protocol = \"shortest-path\""),
        ("OLSR", "protocol = \"olsr\""),
        (
            "BP-MR per flow",
            "protocol = \"bp-mr\"\ngranularity = \"flow\"",
        ),
        (
            "BP-MR per packet",
            "protocol = \"bp-mr\"\ngranularity = \"packet\"",
        ),
    ];
    let grids = routings.map(|(name, routing)| {
        let text = grid(routing, 100, "10 MB", "staggered");
        (format!("grid, 100 x 10 MB, {name}"), text)
    });
    let meshes = [5, 10, 20, 50, 100];
    let meshes = meshes.map(|side| (format!("mesh of {} nodes", side * side), mesh(side)));
    let radios = lte::scenes().into_iter().chain(wifi::scenes());
    let radios = radios.map(|(name, text)| (name.to_owned(), text));
    grids.into_iter().chain(meshes).chain(radios).collect()
}

/// Writes the scenarios as files.
fn write_scenarios(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, text) in scenarios() {
        let file = name.replace('/', " per ") + ".toml";
        std::fs::write(folder.join(file), text)?;
    }
    Ok(())
}

fn measure(filter: &str, name: &str, mut scene: impl FnMut() -> Work) {
    if !name.contains(filter) {
        return;
    }
    let mut best = scene();
    for _ in 1..REPEATS {
        let again = scene();
        if again.cpu_s < best.cpu_s {
            best = again;
        }
    }
    print(name, &best);
}

fn print(name: &str, best: &Work) {
    println!(
        "{name:<36} {:>8.2} {:>10} {:>11} {:>8.3} {:>8.3} {:>12.0} {:>8.0} {:>9.1}",
        best.simulated_s,
        best.delivered_pkts,
        best.events,
        best.build_s,
        best.cpu_s,
        best.delivered_pkts as f64 / best.cpu_s,
        best.cpu_s * 1e9 / best.packet_hops as f64,
        best.simulated_s / best.cpu_s,
    );
}

/// The peak memory of this process, as Linux counts it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

fn run_file(path: &str, overrides: impl Iterator<Item = String>, threads: usize) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let overrides: Vec<_> = overrides
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((&pair, ""));
            (key.to_owned(), value.to_owned())
        })
        .collect();
    let work = cell(&text, path, &overrides, threads);
    print(path, &work);
    let (wall_s, threads, digest) = (work.wall_s, work.threads, work.digest);
    println!("{wall_s:.3} s by the clock on {threads} threads; digest {digest:016x}");
    let [plan_s, read_s] = work.read_s;
    println!("resolved in {plan_s:.3} CPU-s, read in {read_s:.3}");
    if let Some(peak) = peak_memory() {
        println!("at most {peak} of memory");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut filter = arguments.next().unwrap_or_default();
    let mut threads = 1;
    if filter == "--threads" {
        let number = arguments.next().and_then(|number| number.parse().ok());
        threads = number.unwrap_or_else(|| panic!("--threads takes a number"));
        filter = arguments.next().unwrap_or_default();
    }
    if filter == "--write" {
        let folder = arguments.next().unwrap_or_default();
        write_scenarios(Path::new(&folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        return;
    }
    println!(
        "{:<36} {:>8} {:>10} {:>11} {:>8} {:>8} {:>12} {:>8} {:>9}",
        "scene",
        "sim s",
        "packets",
        "events",
        "build s",
        "CPU s",
        "pkts/CPU-s",
        "ns/hop",
        "sim/CPU"
    );
    if Path::new(&filter)
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        run_file(&filter, arguments, threads);
        return;
    }
    measure(&filter, "dumbbell 50 Mb/s, 1 CUBIC flow", || {
        dumbbell(50, 1, 600)
    });
    measure(&filter, "dumbbell 1 Gb/s, 10 CUBIC flows", || {
        dumbbell(1000, 10, 30)
    });
    measure(&filter, "dumbbell 1 Gb/s, 100 CUBIC flows", || {
        dumbbell(1000, 100, 30)
    });
    for (name, text) in scenarios() {
        measure(&filter, &name, || scenario(&text));
    }
    functions::measure(&filter);
}
