//! What a page cannot do, as coded errors beside those of scenario files.

use serde::Serialize;

/// A coded error.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    code: &'static str,
    message: String,
    help: String,
}

const MIB: f64 = 1024.0 * 1024.0;

impl Problem {
    /// The long text of a code.
    pub(crate) fn explanation(code: &str) -> Option<&'static str> {
        CODES
            .iter()
            .find(|(known, _)| *known == code)
            .map(|(_, text)| *text)
    }

    pub(crate) fn request(message: &str) -> Self {
        Self {
            code: "W001",
            message: format!("the page asked something unknown: {message}"),
            help: "reload the page; if it remains, report it with the scenario".to_owned(),
        }
    }

    pub(crate) fn python(name: &str) -> Self {
        Self {
            code: "W002",
            message: format!("\"{name}\" is a Python class, which a browser cannot run"),
            help: "install Backlane and run the file there, or choose a built-in model".to_owned(),
        }
    }

    pub(crate) fn too_large(needs_bytes: f64, most_bytes: f64) -> Self {
        Self {
            code: "W003",
            message: format!(
                "a run takes about {:.0} MiB of memory by its estimate; a tab has {:.0} MiB for it",
                needs_bytes / MIB,
                most_bytes / MIB
            ),
            help:
                "make the network, the duration or the series smaller, or run it with an installed \
                   Backlane"
                    .to_owned(),
        }
    }

    pub(crate) fn files(bytes: usize, most: usize) -> Self {
        Self {
            code: "W004",
            message: format!(
                "the attached files have {:.1} MiB, {:.0} MiB are possible",
                bytes as f64 / MIB,
                most as f64 / MIB
            ),
            help: "attach shorter recordings".to_owned(),
        }
    }

    pub(crate) fn failed(message: &str) -> Self {
        Self {
            code: "W005",
            message: format!("the run could not begin: {message}"),
            help: "check the scenario".to_owned(),
        }
    }

    pub(crate) fn stopped() -> Self {
        Self {
            code: "W006",
            message: "the run was stopped".to_owned(),
            help: "start it again".to_owned(),
        }
    }
}

/// Each code and its long text.
const CODES: [(&str, &str); 6] = [
    (
        "W001",
        "The page and the simulator in it do not fit together, for instance after an update. Reload the page.",
    ),
    (
        "W002",
        "The scenario names a congestion control or a router that is a Python class. A page has no Python. An installed Backlane runs the same file.",
    ),
    (
        "W003",
        "The estimate of a run's memory, the same as `backlane run --dry-run` prints, is above what a tab can give. A smaller network, a shorter duration or fewer series fit.",
    ),
    (
        "W004",
        "The files attached to the page are too large together.",
    ),
    (
        "W005",
        "The scenario passed its check, but the simulator could not build its network.",
    ),
    (
        "W006",
        "The run ended before its time, since the page asked for it.",
    ),
];
