"""TCP against Linux 6.1: one flow over one bottleneck, window by window.

`python -m validation.linux` runs the scenario `clean.toml` with each congestion control, compares
it with the recorded traces, draws the figures and writes the table into `README.md`.
"""
