"""What a handler of a queue agent raises to say how its task has failed. Any other exception is a failure, too."""

from __future__ import annotations


class TaskFailed(Exception):
    """The task has failed; the words are its error."""


class Retry(TaskFailed):
    """The task has failed, but may be tried again while it has attempts left."""
