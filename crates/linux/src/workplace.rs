//! The folder of a run's kernels, below the machine's folder for temporary files.
//!
//! A run locks a file in its folder. A killed run cannot remove its folder; the next one does, once
//! the lock is free. The kernels of a killed run end by themselves, since their calendar is gone.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

const PREFIX: &str = "backlane-kernels-";
const LOCK: &str = "lock";

/// Makes a folder and its lock, and removes those of killed runs.
///
/// # Errors
/// A folder or a file cannot be made.
pub(crate) fn make() -> io::Result<(TempDir, File)> {
    sweep(&std::env::temp_dir());
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
    let lock = File::create(folder.path().join(LOCK))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok((folder, lock))
}

/// Removes folders whose run has ended. What cannot be removed, such as another user's, stays.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        if is_ours && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Another run may remove it at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_ended_runs_are_removed_and_those_of_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str, with_lock: bool| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            with_lock.then(|| File::create(path.join(LOCK)).unwrap())
        };
        let running = folder("backlane-kernels-running", true).unwrap();
        flock(&running, FlockOperation::NonBlockingLockExclusive).unwrap();
        drop(folder("backlane-kernels-ended", true));
        folder("backlane-kernels-being-made", false);
        drop(folder("other", true));
        sweep(parent.path());
        let mut left: Vec<_> = fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "backlane-kernels-being-made",
                "backlane-kernels-running",
                "other"
            ]
        );
    }
}
