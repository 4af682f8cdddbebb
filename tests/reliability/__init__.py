"""How reliable Toryo is, as figures: `python -m tests.reliability.faults` counts injected faults, `python -m
tests.soak` lets everything go wrong for ten minutes. Both write to build/reliability/.
"""
