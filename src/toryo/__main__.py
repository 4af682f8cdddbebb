"""`python -m toryo` is the command `toryo`."""

from toryo.cli.main import main

main()
