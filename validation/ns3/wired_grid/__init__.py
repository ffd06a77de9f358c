"""Downloads over a grid of wires, by the phase of their starts."""
