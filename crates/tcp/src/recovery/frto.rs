//! F-RTO (RFC 5682): whether a retransmission timeout was spurious shows in what arrives after
//! the first retransmission.

/// The state of the check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frto {
    pub(crate) is_enabled: bool,
    /// The last timeout may still prove spurious.
    pub(crate) is_checking: bool,
    /// New data is sent before retransmissions.
    pub(crate) tries_new_data: bool,
}

impl Frto {
    pub(super) const fn new(is_enabled: bool) -> Self {
        Self {
            is_enabled,
            is_checking: false,
            tries_new_data: false,
        }
    }
}
