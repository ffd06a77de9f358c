//! Whose TCP the defaults are: generations of Linux and of ns-3.

/// A stack whose behaviour a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Linux 6.1.
    Linux,
    /// ns-3 3.37 of 2022, as distributions package it.
    Ns3,
    /// A fork of ns-3 of 2016 with CUBIC and SACK.
    Ns3Of2016,
}

impl Stack {
    /// All, the default first.
    pub const ALL: [Self; 3] = [Self::Linux, Self::Ns3, Self::Ns3Of2016];

    /// The word in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Ns3 => "ns3",
            Self::Ns3Of2016 => "ns3-2016",
        }
    }

    /// One sentence.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Linux => "Linux 6.1.",
            Self::Ns3 => {
                "ns-3 3.37 as it comes, except for the segment size, which is 536 bytes there."
            }
            Self::Ns3Of2016 => {
                "A fork of ns-3 of 2016 with SACK and CUBIC, as the authors of BP-MR used it."
            }
        }
    }
}
