"""Three paths between two nodes beside ns-3: goodput and reordering of what is spread over them.

`works` says what is run, `truth` keeps what ns-3 gave, `ours` runs it here, `density` counts the
reordering of ns-3's arrivals, `page` shows both.
"""
