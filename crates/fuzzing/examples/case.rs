//! Prints the resolved scenario that a file of the corpus of `runs` stands for, and puts the file
//! through a target: `case TARGET FILE`.

use backlane_fuzzing::{TARGETS, resolved_case};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, file] = &arguments[..] else {
        panic!("case TARGET FILE");
    };
    let bytes = std::fs::read(file).expect("a file of a corpus");
    if name == "runs" {
        println!("{}", resolved_case(&bytes).unwrap_or_default());
    }
    let target = TARGETS.iter().find(|(known, _)| known == name);
    let (_, target) = target.expect("the name of a target");
    target(&bytes);
}
