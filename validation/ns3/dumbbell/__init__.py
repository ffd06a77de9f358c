"""One TCP transfer over one bottleneck, with the congestion controls of ns-3."""
