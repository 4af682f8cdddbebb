"""Planted faults: how many of them the tests find. `python -m tests.mutations` plants one after the other in a copy.

`mutator.py` says where faults can be planted, `by_hand.py` has those that no rule finds, `equivalent.py` those that
change nothing that anybody could see, with the reason. `lines.py` notes which test runs which line, `planting.py` runs
tests with a fault in a process of their own, `bounds.py` lets it end no others, `swapping.py` plants one within a
function without importing everything again, `trials.py` says which test finds it (one that passes without it),
`records.py` keeps what became of each, and `__main__.py` takes a sample, and has the folders of tests and the threshold
of each package.
"""
