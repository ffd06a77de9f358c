//! Runs a scenario.
use backlane_linux::{Build, Kernels, guest::Files};
use backlane_world::{Models, World};
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let seed: u64 = std::env::args().nth(2).map_or(1, |s| s.parse().unwrap());
    let text = std::fs::read_to_string(&file).unwrap();
    let scenario = match Models::standard().catalogue().parse(&text, &file) { Ok(s) => s, Err(e) => panic!("{e:?}") };
    let world = World::new(&scenario, seed, None).unwrap();
    let k = std::path::PathBuf::from("/work/k61");
    let linux = scenario.linux.clone().unwrap();
    let build = Build { files: Files { kernel: k.join("linux"), shim: k.join("shim.so"), agent: k.join("agent") }, sysctl: linux.sysctl, memory_bytes: linux.memory_bytes };
    let t0 = std::time::Instant::now();
    let mut kernels = match Kernels::boot(&world, &build, seed) { Ok(k) => k, Err(e) => { eprintln!("{e}"); return } };
    eprintln!("booted {} in {:?}", kernels.count(), t0.elapsed());
    let outcome = world.run_beside(&mut kernels, |_, _| Ok(()), None);
    match outcome {
        Err(_) => eprintln!("{}", kernels.take_failure().unwrap()),
        Ok(o) => {
            for c in ["goodput_bps", "delivered_bytes", "retransmits", "rtt_mean_s", "finish_time_s", "segments_sent"] { eprintln!("{c} {:?}", o.flows.floats(c)); }
            eprintln!("digest {:?} wall {:?}", o.summary, t0.elapsed());
        }
    }
}
