"""A real kernel over simulated links, compared with recordings of the same kernel over netem."""
