"""What a handler of a queue agent raises when another attempt may succeed."""

from __future__ import annotations


class Retry(Exception):
    """The task has failed, but may be tried again while it has attempts left."""
