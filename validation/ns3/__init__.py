"""LTE access against ns-3's LENA: the same cell in both, and what each costs.

`peer` builds and runs our programs over ns-3, `truth` keeps what they gave, `ours` runs the same
work here, `page` and `figures` show both. `python -m validation.ns3` compares with the recorded
runs; ns-3 itself is needed only for recording them anew (`--record`) and for speed (`--speed`).
"""
