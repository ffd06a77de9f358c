//! Long operations call a watch between their steps, and end when it requests it.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use backlane_scenario::{Interrupt, Options, Stopped, TableError};
use backlane_world::catalogue;

const FLOW: &str = "[[flow]]\nkind = \"transfer\"\nfrom = \"FROM\"\nto = \"TO\"\nsize = \"1 MB\"\n";
const LINK: &str = "link = { rate = \"10 Mbit/s\", delay = \"4 ms\" }\n";

fn scenario(topology: &str, from: &str, to: &str, more: &str) -> String {
    let flow = FLOW.replace("FROM", from).replace("TO", to);
    format!("duration = \"10 s\"\n[topology]\n{topology}{LINK}{flow}{more}")
}

/// A folder with 300 sites in it, half of them at one place.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("interrupted");
    std::fs::create_dir_all(&folder).unwrap();
    let mut sites = "id,x_m,y_m\n".to_owned();
    for site in 0..300 {
        let x = if site < 30 { 0 } else { site * site % 997 };
        sites += &format!("s{site},{x},{}\n", x * 7 % 101);
    }
    std::fs::write(folder.join("sites.csv"), sites).unwrap();
    folder
}

/// How often the watch is asked when it says yes, and when it says no after `most` questions.
fn asked(text: &str, is_plan: bool, most: usize) -> (usize, bool) {
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    let watch = move || {
        counted.set(counted.get() + 1);
        if counted.get() > most {
            Err(Interrupt)
        } else {
            Ok(())
        }
    };
    let options = Options {
        watch: Some(Box::new(watch)),
        ..Options::default()
    };
    let path = folder().join("scenario.toml");
    let path = path.to_string_lossy();
    let stopped = if is_plan {
        catalogue().plan_with(text, &path, options).err()
    } else {
        catalogue().check_with(text, &path, options).err()
    };
    if let Some(Stopped::Refused(report)) = &stopped {
        panic!("{report}");
    }
    (count.get(), stopped == Some(Stopped::Interrupted))
}

#[test]
fn long_work_asks_at_every_step_and_ends_at_the_first_no() {
    let sites = |rule: &str| {
        let topology = format!("kind = \"sites\"\nfile = \"sites.csv\"\nlinks = {rule}\n");
        scenario(&topology, "s1", "s77", "")
    };
    let grid = scenario(
        "kind = \"grid\"\nrows = 40\ncolumns = 40\n",
        "enb1",
        "enb9",
        "",
    );
    let many = format!("{grid}[sweep]\n\"tcp.retries\" = [1, 2, 3]\nseeds = 500\n");
    let failing = (1..40).fold(String::new(), |text, n| {
        text + &format!(
            "[[failure]]\nlink = \"enb{n}-enb{}\"\nat = \"1 s\"\n",
            n + 1
        )
    });
    // (scenario, steps that it has at the least: nodes, links and rows to read, resolve and print)
    for (text, steps) in [
        (grid.clone(), 2 * (1600 + 3120)),
        // All cells have one network.
        (many, 2 * (1600 + 3120) + 2),
        (format!("{grid}{failing}"), 2 * (1600 + 3120) + 39),
        (sites("\"gabriel\""), 1200),
        (
            sites("{ rule = \"mst\", degree_cap = 4, extra_degree = 2 }"),
            1000,
        ),
        (sites("{ rule = \"k-nearest\", k = 3 }"), 600),
        (
            scenario(
                "kind = \"ring_tree\"\nrows = 15\ncolumns = 15\nroot = 3\n",
                "enb1",
                "enb9",
                "",
            ),
            225 * 224 / 2,
        ),
    ] {
        for is_plan in [false, true] {
            let (all, is_stopped) = asked(&text, is_plan, usize::MAX);
            assert!(
                !is_stopped && all >= steps,
                "{all} of {steps} steps in\n{text}"
            );
            for most in [0, 1, all / 7, all / 3, all / 2, all - 2] {
                let (count, is_stopped) = asked(&text, is_plan, most);
                // Nothing asks on for long after the answer.
                assert!(
                    is_stopped && count <= most + 1,
                    "{count} of {all} after {most}\n{text}"
                );
            }
        }
    }
}

#[test]
fn who_interrupts_the_reading_of_a_table_interrupts_all() {
    let folder = folder();
    std::fs::write(folder.join("a.parquet"), "").unwrap();
    let text = scenario(
        "kind = \"sites\"\nfile = \"a.parquet\"\nlinks = \"gabriel\"\n",
        "a",
        "b",
        "",
    );
    let path = folder.join("scenario.toml");
    for (error, is_interrupted) in [
        (TableError::Interrupted, true),
        (TableError::Unreadable("torn".to_owned()), false),
    ] {
        let options = Options {
            read_table: Some(Box::new(move |_: &Path| Err(error.clone()))),
            ..Options::default()
        };
        let stopped = catalogue()
            .plan_with(&text, &path.to_string_lossy(), options)
            .unwrap_err();
        assert_eq!(stopped == Stopped::Interrupted, is_interrupted);
    }
}
