"""`python -m backlane`."""

from backlane.cli import main

main()
