"""802.11 against ns-3's Wi-Fi: the same stations in both.

`works` says what is run, `truth` keeps what ns-3 gave, `ours` runs it here, `page` shows both.
"""
