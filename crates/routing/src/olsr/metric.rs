//! The metric of routes.

backlane_param::words! {
    /// The metric of routes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Metric {
        /// The number of links.
        #[default]
        Hops = "hops",
        /// The sum of the links' ETX. Every node must use it.
        Etx = "etx",
        /// The sum of the links' directional airtimes, of losses and rates (RFC 7779). Every node
        /// must use it.
        Airtime = "airtime",
    }
}
