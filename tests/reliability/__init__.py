"""How reliable Toryo is, as figures: `python -m tests.reliability` writes docs/reliability.md from the last results in
build/reliability/, which long runs leave there (`page.LONG`).
"""
