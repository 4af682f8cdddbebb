"""How reliable Toryo is, as figures: `python -m tests.reliability` writes docs/reliability.md from the last results in
build/reliability/. Long runs leave them there (`page.LONG`): `python -m tests.reliability.faults` counts injected
faults, `python -m tests.soak` lets everything go wrong for ten minutes.
"""
