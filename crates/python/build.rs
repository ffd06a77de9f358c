//! Tells the module which commit it was built from.

use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&root)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BACKLANE_COMMIT={commit}");
    // HEAD's log is written by every commit and checkout; without one, nothing can change.
    match git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        Some(log) => println!("cargo::rerun-if-changed={}", root.join(log).display()),
        None => println!("cargo::rerun-if-changed=build.rs"),
    }
}
