"""Scenarios on the wall clock, between real programs (`backlane emulate`).

Each host of the external flows of a scenario has a network namespace with one TUN interface; what a
program sends there travels through the simulated network.

- `rights`: what an emulation needs of the machine.
- `namespaces`: the namespaces and interfaces of the hosts, by the program ``ip``.
- `state`: the emulations of this machine, what they made, and its removal.
"""
