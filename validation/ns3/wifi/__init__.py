"""802.11 against ns-3's Wi-Fi: the same stations in both.

`works` lists the runs, `truth` records ns-3's results, `ours` runs them here, `page` shows both.
"""
