"""Studies: reproduce a paper, figure by figure and claim by claim.

`catalogue` finds a study, `study` and `claims` read its folder, `execution` runs an experiment,
`runs` and `view` hold its runs. `metrics` with `timed`, `shares`, `slots`, `reordering` and `mesh`
measure a run; `terms` and `rules` test a claim. `figures` with `curves`, `displacements`, `flows`
and `ratios` draws in the paper's form, in the `style` of the project; `sensitivity` tabulates a
result over assumptions; `page` writes the verdict, and `reproduction` is the whole of it.

Runs are kept in a store and are not repeated; an interrupted study resumes.

Example:
    >>> import backlane
    >>> backlane.studies.reproduce("tcp_aware_bp/paper", quick=True)  # doctest: +SKIP
"""

from backlane.studies.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
