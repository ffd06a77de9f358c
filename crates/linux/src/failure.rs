//! Why kernels could not go on.

use std::fmt;
use std::io;

/// Why a run with kernels has no outcome.
#[derive(Debug)]
pub enum Failure {
    /// A file or a process of this machine could not be used.
    Machine {
        /// What was attempted, as "start the kernel of ue1".
        what: String,
        /// What the system answered.
        error: io::Error,
    },
    /// A kernel has stopped, or does not follow its protocols.
    Guest {
        /// The host.
        host: String,
        /// What happened, as a clause about the kernel.
        what: String,
        /// The end of its console.
        last_words: String,
    },
}

impl Failure {
    pub(crate) fn machine(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Machine { what, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine { what, error } => write!(f, "cannot {what}: {error}"),
            Self::Guest {
                host,
                what,
                last_words,
            } => {
                write!(f, "the kernel of {host} {what}")?;
                if last_words.is_empty() {
                    f.write_str(", and has printed nothing")
                } else {
                    write!(f, "; the end of its console:\n{last_words}")
                }
            }
        }
    }
}

impl std::error::Error for Failure {}
