"""How agents behave: a table of small classes. A behaviour may do something before a step, and changes how work ends.

`obedient` is what all others differ from. What a behaviour calls goes to the real server, which refuses, warns, stops
and puts in cooldown as it would.
"""

from __future__ import annotations

import random
from typing import Protocol

from toryo.agents.agent_loop import Over, Session
from toryo.agents.shell import Ran


class Program(Protocol):
    """What a behaviour may use of the program that has it (`programs.py`)."""

    session: Session
    dice: random.Random

    def minutes(self) -> float:
        """How long the work takes, drawn from its distribution."""

    def work(self, minutes: float) -> None:
        """Lets time pass."""

    def ended(self) -> Ran:
        """How the work ends, by the share of failures."""


class Crashed(BaseException):
    """The process ends with exit code 1 in the middle of what it does."""


class Obedient:
    """Does what it is told, in the time that was given."""

    share = 0.0
    """In which part of its launches an agent behaves like this, if the file does not say."""
    pace = 1.0
    """How many times as long it works and thinks."""

    def step(self, program: Program) -> None:
        """Before it follows an instruction to divide, execute or supervise."""

    def work(self, program: Program) -> Ran:
        program.work(program.minutes())
        return program.ended()


class Slow(Obedient):
    """Takes three times as long."""

    share = 1.0
    pace = 3.0


class Forgetful(Obedient):
    """Does the work, and ends its process without a report."""

    share = 0.3

    def work(self, program: Program) -> Ran:
        program.work(program.minutes())
        raise Over


class Crashing(Obedient):
    """Crashes somewhere in its work."""

    share = 0.3

    def work(self, program: Program) -> Ran:
        program.work(program.minutes() * program.dice.random())
        raise Crashed


BEHAVIOURS: dict[str, type[Obedient]] = {
    "obedient": Obedient,
    "slow": Slow,
    "forgetful": Forgetful,
    "crashing": Crashing,
}
