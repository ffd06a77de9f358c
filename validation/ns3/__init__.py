"""LTE access and 802.11 against ns-3: the same cells and stations in both, and their cost.

`peer` builds and runs our programs over ns-3, `truth` records their output, `ours` runs the same
work here, `page` and `figures` show both; 802.11 has its own modules in `wifi`. `python -m
validation.ns3` compares with the recorded runs; ns-3 itself is needed only to repeat the
recording (`--record`) and to measure speed (`--speed`).
"""
