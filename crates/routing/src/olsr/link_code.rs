//! The link code: what a HELLO reports about each neighbour, in one byte (RFC 3626 §6.1.1).

/// The link type (RFC 3626 §6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkType {
    /// UNSPEC: the neighbour is on another interface.
    Unspecified,
    /// The neighbour is heard.
    Asymmetric,
    /// Both hear each other.
    Symmetric,
    /// The link existed and is lost.
    Lost,
}

/// The neighbour type (RFC 3626 §6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeighbourType {
    /// No symmetric link leads to it.
    Not,
    /// A symmetric link leads to it.
    Symmetric,
    /// The same, and it is a multipoint relay of the HELLO's originator.
    Mpr,
}

/// Both, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkCode {
    /// Of the link.
    pub link: LinkType,
    /// Of the neighbour.
    pub neighbour: NeighbourType,
}

impl LinkCode {
    pub(super) fn encode(self) -> u8 {
        (self.neighbour as u8) << 2 | self.link as u8
    }

    pub(super) fn decode(code: u8) -> Option<Self> {
        let link = match code & 3 {
            0 => LinkType::Unspecified,
            1 => LinkType::Asymmetric,
            2 => LinkType::Symmetric,
            _ => LinkType::Lost,
        };
        let neighbour = match code >> 2 {
            0 => NeighbourType::Not,
            1 => NeighbourType::Symmetric,
            2 => NeighbourType::Mpr,
            _ => return None,
        };
        // A symmetric link to a node that is no neighbour is contradictory (RFC 3626 §6.1.1).
        (link != LinkType::Symmetric || neighbour != NeighbourType::Not)
            .then_some(Self { link, neighbour })
    }
}
