"""Exceptions with which a queue agent's handler fails its task. Any other exception is a failure, too."""

from __future__ import annotations


class TaskFailed(Exception):
    """The task has failed; the text is its error."""


class Retry(TaskFailed):
    """The task has failed, but may be retried while it has attempts left."""
