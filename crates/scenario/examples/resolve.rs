//! Prints the resolved form of a scenario's first cell, or its errors.

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let overrides: Vec<(String, String)> = std::env::args()
        .skip(2)
        .filter_map(|pair| {
            pair.split_once('=')
                .map(|(key, value)| (key.into(), value.into()))
        })
        .collect();
    let plan = backlane_scenario::read_file(&path)
        .and_then(|text| backlane_world::catalogue().plan(&text, &path, &overrides, None));
    match plan {
        Ok(plan) => print!("{}", plan.cells[0].resolved),
        Err(report) => {
            eprintln!("{report}");
            std::process::exit(2);
        }
    }
}
