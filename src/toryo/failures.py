"""Why an agent's process ended before its work was done, and the consequences. Also used by Coordinators.

An end is sent as text, `class: details`; `class_of` extracts the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from toryo.deeds import Blank


class Failure(StrEnum):
    """A process did not do its work."""

    COMMAND_NOT_FOUND = "command_not_found"
    NOT_LOGGED_IN = "not_logged_in"
    MODEL_NOT_AVAILABLE = "model_not_available"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    SERVICE_FAILED = "service_failed"
    """The model's service failed, or did not answer."""
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    COULD_NOT_CONNECT = "could_not_connect"
    MACHINE_FAILED = "machine_failed"
    """The Coordinator's machine could not start it: its disk is full, or it has no process or file left."""
    BAD_CONFIG = "bad_config"
    UNMETERED = "unmetered"
    """Budgets limit it, and what its program spends is not known."""
    BAD_DIRECTORY = "bad_directory"
    """The directory of its project cannot be used."""
    BAD_WORKTREE = "bad_worktree"
    """No worktree could be created for its task."""
    BAD_SETUP = "bad_setup"
    """The worktree of its task could not be set up as the project says."""
    TURN_LIMIT = "turn_limit"
    """The model answered more often than its configuration allows."""
    OUTPUT_FLOOD = "output_flood"
    """It printed more than its configuration allows."""
    # what only the server can see
    LEFT_WITHOUT_REPORTING = "left_without_reporting"
    LEFT_WITHOUT_ANSWERING = "left_without_answering"
    RUNAWAY = "runaway"
    SILENT = "silent"
    TIME_LIMIT = "time_limit"


class Ended(StrEnum):
    """Ends that a person or the server ordered: no failure of the agent, and no cooldown."""

    STOPPED = "stopped"
    COORDINATOR_STOPPED = "coordinator_stopped"


@dataclass(frozen=True, slots=True)
class Nature:
    words: str
    """What happened, to go on with after "because"."""
    people: str | None = None
    """Where time does not help: what people do about it."""
    guarded: str | None = None
    """Where a guard ended it: what it did, as a sentence."""
    correct: Mapping[str, Any] = field(default_factory=dict)
    """What to edit of the agent to correct it."""
    correct_project: Mapping[str, Any] = field(default_factory=dict)
    """What to edit of the project to correct it."""
    fallback: bool = False
    """Whether another program is worth a try: it speaks against the program or its account, not against the agent."""
    outside: bool = False
    """Whether it is neither the agent's doing nor its task's: the attempt at a task is not counted."""
    logged: bool = False
    """Whether its details are in the log only: its process was never started."""
    counted: bool = True
    """Whether leaving so can count as leaving without a report."""
    usual_pause: int | None = None
    """Seconds until the next start, where the message names no time. None: as long as the number of failures says."""


NATURES: Mapping[Failure, Nature] = {
    Failure.QUOTA: Nature(
        "the quota of its account is used up", fallback=True, outside=True, counted=False, usual_pause=1800
    ),
    Failure.RATE_LIMITED: Nature(
        "its model's service reported too many requests", fallback=True, outside=True, counted=False, usual_pause=300
    ),
    Failure.SERVICE_FAILED: Nature(
        "its model's service failed or did not answer", fallback=True, outside=True, counted=False
    ),
    Failure.NOT_LOGGED_IN: Nature(
        "its program is not logged in on that machine",
        people="Its program is not logged in. Log in on the machine of its Coordinator. If it uses a key of the "
        "environment, restart the Coordinator{up: (…)} with the new key. Then resume the agent.",
        fallback=True,
        outside=True,
    ),
    Failure.MODEL_NOT_AVAILABLE: Nature(
        "its model is not available",
        people="Its model is not available. Choose another model, or get access to this one.",
        correct={"model": Blank("NAME")},
        fallback=True,
        outside=True,
    ),
    Failure.COMMAND_NOT_FOUND: Nature(
        "its program was not found",
        people="Its program was not found. Install it on the machine of its Coordinator, then resume the agent.",
        fallback=True,
        outside=True,
    ),
    Failure.MACHINE_FAILED: Nature(
        "its Coordinator's machine could not start it",
        people="Its Coordinator's machine could not start it: it has no disk space, processes or files left. Free "
        "some. The agent is then started again automatically.",
        outside=True,
        logged=True,
    ),
    Failure.BAD_CONFIG: Nature(
        "its program or its options are not configured correctly",
        people="Its configuration has a mistake. Correct it, then resume the agent.",
        correct={"provider_options": Blank("NAME=VALUE")},
        logged=True,
    ),
    Failure.UNMETERED: Nature(
        "its program does not report what it spends, so its budget cannot limit it",
        people="Its program does not report what it spends, so its budget cannot limit it. Set prices in the "
        "Coordinator's file, set a budget in tokens, or allow starts without a limit. Then resume the agent.",
        correct={"provider_options": {"unmetered": True}},
        fallback=True,
        outside=True,
        logged=True,
    ),
    Failure.BAD_DIRECTORY: Nature(
        "the directory of its project cannot be used",
        people="The directory of its project cannot be used. Correct it, then resume the agent.",
        correct_project={"working_directory": Blank("PATH")},
        logged=True,
    ),
    Failure.BAD_WORKTREE: Nature(
        "no worktree could be created for its task",
        people="Correct the cause, or switch worktrees off. Then resume the agent.",
        correct_project={"settings": {"isolation": "none"}},
        logged=True,
    ),
    Failure.BAD_SETUP: Nature(
        "the worktree of its task could not be set up",
        people="Correct the cause, or the project's worktree_setup or worktree_copy. Then resume the agent.",
        correct_project={"settings": {"worktree_setup": Blank("COMMANDS")}},
        outside=True,
        logged=True,
    ),
    Failure.COULD_NOT_CONNECT: Nature("its process did not sign in", outside=True),
    Failure.TURN_LIMIT: Nature(
        "its model reached the limit of answers per run",
        guarded="Its model reached the limit of answers per run.",
    ),
    Failure.OUTPUT_FLOOD: Nature("its process printed too much output", guarded="It printed too much output."),
    Failure.TIMED_OUT: Nature(
        "its process reached its time limit", guarded="It reached its time limit.", counted=False
    ),
    Failure.TIME_LIMIT: Nature("its process reached its time limit", guarded="It reached its time limit."),
    Failure.KILLED: Nature("its process was killed", counted=False),
    Failure.CRASHED: Nature("its process failed"),
    Failure.RUNAWAY: Nature(
        "it kept calling without making progress",
        guarded="It kept calling without making progress.",
    ),
    Failure.SILENT: Nature(
        "its process was alive, but neither called nor printed anything",
        guarded="Its process was alive, but neither called nor printed anything.",
    ),
    Failure.LEFT_WITHOUT_REPORTING: Nature("it left without reporting"),
    Failure.LEFT_WITHOUT_ANSWERING: Nature("it left while someone was waiting for its answer"),
}


_NAMED = {failure.value: failure for failure in Failure}
_ORDERED = frozenset(ended.value for ended in Ended)


def class_of(said: str | None) -> str:
    """The class in what was told of an end; it may be one that a newer Coordinator knows."""
    return (said or "").partition(":")[0].strip()


def nature_of(said: str | None) -> Nature | None:
    """What follows from an end; None for one that was ordered, or that is not known here."""
    failure = _NAMED.get(class_of(said))
    return NATURES[failure] if failure is not None else None


def was_ordered(said: str | None) -> bool:
    return class_of(said) in _ORDERED


def from_outside(said: str | None) -> bool:
    """Neither the agent's doing nor its task's: its failure, or its Coordinator's going."""
    nature = nature_of(said)
    return class_of(said) == Ended.COORDINATOR_STOPPED or (nature is not None and nature.outside)


def may_count(said: str | None) -> bool:
    """Whether leaving so can count as leaving without a report."""
    nature = nature_of(said)
    return not was_ordered(said) and (nature is None or nature.counted)
