//! Whose TCP the defaults are: generations of Linux and of ns-3.

/// A stack whose behaviour a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Linux 6.1.
    Linux,
    /// Linux 4.4 of 2016.
    Linux44,
    /// Linux 2.6.26 of 2008 to 2.6.38 of 2011.
    Linux26,
    /// ns-3 3.37 of 2022, as distributions package it.
    Ns3,
    /// A fork of ns-3 of 2016 with CUBIC and SACK.
    Ns3Of2016,
}

impl Stack {
    /// All, the default first.
    pub const ALL: [Self; 5] = [
        Self::Linux,
        Self::Linux44,
        Self::Linux26,
        Self::Ns3,
        Self::Ns3Of2016,
    ];

    /// The word in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Linux44 => "linux-4.4",
            Self::Linux26 => "linux-2.6",
            Self::Ns3 => "ns3",
            Self::Ns3Of2016 => "ns3-2016",
        }
    }

    /// One sentence.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Linux => "Linux 6.1.",
            Self::Linux44 => "Linux 4.4 of 2016, with HZ = 250.",
            Self::Linux26 => "Linux 2.6.26 to 2.6.38 (2008 to 2011), with HZ = 250.",
            Self::Ns3 => {
                "ns-3 3.37 as it comes, except for the segment size, which is 536 bytes there."
            }
            Self::Ns3Of2016 => {
                "A fork of ns-3 of 2016 with SACK and CUBIC, as the authors of BP-MR used it."
            }
        }
    }
}
