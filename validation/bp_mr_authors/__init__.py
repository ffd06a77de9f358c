"""BP-MR beside the simulator of its authors: the same grid, flow by flow."""
