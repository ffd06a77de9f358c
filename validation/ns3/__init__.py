"""LTE access and 802.11 against ns-3: the same cells and stations in both, and what each costs.

`peer` builds and runs our programs over ns-3, `truth` keeps what they gave, `ours` runs the same
work here, `page` and `figures` show both; 802.11 has its own in `wifi`. `python -m
validation.ns3` compares with the recorded runs; ns-3 itself is needed only for recording them
anew (`--record`) and for speed (`--speed`).
"""
