//! Passes the commit and a hash of the sources of the models to the module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// The crates whose sources determine the results of a resolved scenario.
const MODELS: [&str; 17] = [
    "assignment",
    "coding",
    "engine",
    "linux",
    "lte",
    "net",
    "param",
    "radio",
    "record",
    "routing",
    "scenario",
    "slotted",
    "tcp",
    "traffic",
    "units",
    "wifi",
    "world",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rustc-env=BACKLANE_COMMIT={}", commit(&root));
    println!("cargo::rustc-env=BACKLANE_SOURCES={}", sources(&root));
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit of the source tree, or "unknown".
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(root)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // Every commit and checkout writes HEAD's log; without one, nothing can change.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={}", root.join(log).display());
    }
    git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned())
}

/// The first 16 hexadecimal digits of a SHA-256 over the sources of the models, in the order of
/// their paths.
fn sources(root: &Path) -> String {
    let mut hash = Sha256::new();
    for name in MODELS {
        let folder = root.join("crates").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            let path = file.strip_prefix(root).unwrap_or(&file);
            hash.update(path.to_string_lossy().as_bytes());
            hash.update([0]);
            hash.update(fs::read(&file).unwrap_or_default());
            hash.update([0]);
        }
    }
    let digest = hash.finalize();
    let first: [u8; 8] = std::array::from_fn(|index| digest[index]);
    format!("{:016x}", u64::from_be_bytes(first))
}

/// Adds the Rust files below `folder`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
