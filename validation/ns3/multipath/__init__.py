"""Three paths between two nodes in ns-3 and here: goodput and reordering of flows over them.

`works` lists the runs, `truth` records ns-3's output, `ours` runs them here, `density` computes
the reordering of ns-3's arrivals, `page` shows both.
"""
