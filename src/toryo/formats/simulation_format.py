"""The `simulation:` section of a toryo.yaml: how long agents take, what they cost, how they misbehave, when work comes.

```yaml
simulation:
  hours: 8
  seed: 1
  coordinator: {max_concurrent: 5}
  defaults: {minutes: {mean: 12, spread: 0.5}, failures: 0.05}
  agents:
    worker-3: {behaviour: crashing, share: 0.2}
  arrivals:
    - {title: "Feature {n}", project: shop, assignee: lead, count: 8, every_minutes: 45}
```
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from toryo.usual_slots import USUAL_SLOTS

Behaviour = Literal["obedient", "slow", "forgetful", "crashing"]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True)]
Share = Annotated[Number, Field(ge=0, le=1)]
USUAL_MINUTES = 12.0
"""Of a task of which nothing is known."""
LONGEST_MINUTES = 10_000
LONGEST_HOURS = 1_000
MOST_TOKENS = 1_000_000
MOST_TOKENS_OF_A_START = 1_000_000_000
MOST_DOLLARS = 1_000
"""For a million tokens."""
MOST_SUBTASKS = 60
"""As many as a manager can create in one call."""
MOST_ARRIVALS = 10_000
"""All tasks that come, together."""
LARGEST_SEED = 2**53 - 1
"""The largest whole number that every reader of JSON reads exactly."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def said(self) -> dict[str, Any]:
        """The keys that the file gives."""
        return {name: getattr(self, name) for name in self.model_fields_set}


_KINDS_OF_TIMES = "mean (with spread), min and max, or samples"


class Times(_Section):
    """How long something takes, in minutes: a mean with a spread, a range, or samples to draw from."""

    mean: Number | None = Field(None, gt=0, le=LONGEST_MINUTES)
    """The mean; durations are log-normal around it."""
    spread: Number = Field(0.0, ge=0, le=3)
    """The standard deviation of the logarithm: 0 is always the mean, 0.5 usual, 1 wide."""
    min: Number | None = Field(None, ge=0, le=LONGEST_MINUTES)
    """The shortest, of a uniform distribution."""
    max: Number | None = Field(None, gt=0, le=LONGEST_MINUTES)
    """The longest, of a uniform distribution."""
    samples: list[Annotated[Number, Field(ge=0, le=LONGEST_MINUTES)]] = Field(default_factory=list, max_length=10_000)
    """Measured durations: one of them is drawn each time."""

    @model_validator(mode="after")
    def _of_one_kind(self) -> Times:
        ranged = self.min is not None or self.max is not None
        if sum([self.mean is not None, ranged, bool(self.samples)]) != 1:
            raise ValueError(f"use one of: {_KINDS_OF_TIMES}")
        if ranged and (self.min is None or self.max is None or self.min > self.max):
            raise ValueError("min and max belong together, and min must not be above max")
        return self


def _as_times(value: Any) -> Any:
    """A number is a mean."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"mean": value}
    if not isinstance(value, dict | Times):
        raise ValueError(f"must be a number, such as 12, or a mapping with {_KINDS_OF_TIMES}")
    return value


class Subtasks(Times):
    """How many subtasks: a mean with a spread, a range, or samples to draw from."""

    mean: Number | None = Field(None, ge=1, le=MOST_SUBTASKS)
    """The mean; numbers are log-normal around it."""
    min: Number | None = Field(None, ge=1, le=MOST_SUBTASKS)
    """The fewest, of a uniform distribution."""
    max: Number | None = Field(None, ge=1, le=MOST_SUBTASKS)
    """The most, of a uniform distribution."""
    samples: list[Annotated[Number, Field(ge=1, le=MOST_SUBTASKS)]] = Field(default_factory=list, max_length=10_000)
    """Numbers: one of them is drawn each time."""


class Tokens(_Section):
    """What a program with a model uses. Programs without one (command, playbook, script) use none."""

    start: Whole = Field(12_000, ge=0, le=MOST_TOKENS_OF_A_START)
    """Tokens of a start: instructions and tool list."""
    call: Whole = Field(1_500, ge=0, le=MOST_TOKENS)
    """Tokens of each call of Toryo's tools."""
    minute: Whole = Field(6_000, ge=0, le=MOST_TOKENS)
    """Tokens of each minute of work."""
    output_share: Share = 0.1
    """The part of them that is output."""


class Agent(_Section):
    """One agent, or the defaults of all."""

    behaviour: Behaviour = "obedient"
    """How it behaves."""
    share: Share | None = None
    """In which part of its launches it behaves like this; in the others it is obedient. Default: of the behaviour."""
    minutes: Annotated[Times, BeforeValidator(_as_times)] = Field(
        default_factory=lambda: Times(mean=USUAL_MINUTES, spread=0.5)
    )
    """How long it works on a task, or on a step of its playbook, in minutes; a number alone is the mean."""
    failures: Share = 0.0
    """The part of its work that it reports as failed."""
    failed_checks: Share = 0.0
    """The part of its acceptance checks that fail at the first attempt."""
    check_seconds: Number = Field(10.0, ge=0, le=86_400)
    """How long its acceptance checks take."""
    start_seconds: Number = Field(3.0, ge=0, le=3600)
    """From the start of its process to its first call."""
    call_seconds: Number = Field(4.0, ge=0, le=3600)
    """Before each further call: how long a model thinks."""
    tokens: Tokens = Field(default_factory=Tokens)
    """Tokens it uses."""
    dollars_per_million: Number = Field(3.0, ge=0, le=MOST_DOLLARS)
    """The price of a million tokens, in US dollars."""
    subtasks: Annotated[Subtasks, BeforeValidator(_as_times)] = Field(default_factory=lambda: Subtasks(min=3, max=6))
    """Into how many subtasks a manager with a model splits a task (a number alone is the mean); one with a playbook
    follows it."""
    retry: Whole = Field(1, ge=0, le=20)
    """How often a manager with a model retries a failed subtask."""


class Coordinator(_Section):
    """The Coordinator that starts the agents."""

    max_concurrent: Whole = Field(USUAL_SLOTS, ge=1, le=10_000)
    """How many task processes run at a time."""
    max_chat: Whole | None = Field(None, ge=0, le=10_000)
    """How many chat processes run at a time; max_concurrent if not said."""


class Arrival(_Section):
    """Tasks that come during the day, beside those under `tasks:`."""

    title: str = Field(min_length=1, max_length=200, pattern=r"\S")
    """The title; {n} is the number of the task."""
    project: str
    """The project's id or name."""
    assignee: str
    """The id of the agent that does it."""
    count: Whole = Field(1, ge=1, le=10_000)
    """How many come."""
    at_minutes: Number = Field(0.0, ge=0, le=60 * LONGEST_HOURS)
    """When the first one comes, in minutes after the beginning."""
    every_minutes: Number = Field(0.0, ge=0, le=60 * LONGEST_HOURS)
    """How many minutes after the one before the next one comes."""
    priority: Literal["low", "medium", "high", "critical", "urgent"] | None = None
    """`medium` if not said."""


class Simulation(_Section):
    """How `toryo simulate` plays a team. `toryo apply` checks it, and does nothing with it."""

    hours: Number = Field(8.0, gt=0, le=LONGEST_HOURS)
    """How long it lasts at most; it ends earlier when all tasks are done."""
    seed: Whole = Field(0, ge=0, le=LARGEST_SEED)
    """The same seed gives the same run."""
    coordinator: Coordinator = Field(default_factory=Coordinator)
    """The Coordinator that starts the agents."""
    defaults: Agent = Field(default_factory=Agent)
    """For every agent."""
    agents: dict[str, Agent] = Field(default_factory=dict)
    """Per agent, what differs from the defaults."""
    arrivals: list[Arrival] = Field(default_factory=list, max_length=1_000)
    """Tasks that come during the day."""

    @field_validator("arrivals")
    @classmethod
    def _not_too_many(cls, arrivals: list[Arrival]) -> list[Arrival]:
        many = sum(each.count for each in arrivals)
        if many > MOST_ARRIVALS:
            raise ValueError(f"must be at most {MOST_ARRIVALS:,} tasks together; these are {many:,}")
        return arrivals

    def of(self, agent_id: str) -> Agent:
        """What holds for an agent: its own section before the defaults."""
        own = self.agents.get(agent_id)
        return self.defaults if own is None else self.defaults.model_copy(update=own.said())
