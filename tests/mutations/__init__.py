"""Planted faults: how many of them the tests find. `python -m tests.mutations` plants one after the other in a copy.

`mutator.py` says where faults can be planted, `by_hand.py` has those that no rule finds, `equivalent.py` those that
change nothing that anybody could see, with the reason. `lines.py` notes which test runs which line, `planting.py` runs
the tests of one fault in a process of its own, `swapping.py` plants a fault within a function without importing
everything again, `__main__.py` takes a sample and counts.
"""
