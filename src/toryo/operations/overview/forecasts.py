"""The forecast of a project: when its open tasks will be done, and what they will cost, as `toryo forecast` says it.

The server computes it in a process of its own (`server/forecasts.py`) and remembers it until it stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, cast

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from toryo.deeds import terminal
from toryo.domain.errors import Code, Refusal
from toryo.domain.times import MINUTE, iso, iso_or_none
from toryo.domain.wording import constant, say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.forecasting import GOOD_FOR, Forecasted
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.usual_slots import USUAL_SLOTS

MOST_PROCESSES = 10_000


class Range(TypedDict):
    """`low` to `high` has 9 of 10 runs; `middle` is the median."""

    low: float
    middle: float
    high: float


class BusyAgent(TypedDict):
    """How long its programs run, and from how many of its tasks that was learnt. 0: nothing was recorded, so each task
    is given `assumed_minutes`."""

    hours: Range
    learnt_from: int


class Unfinished(TypedDict):
    """A task that was not completed in `runs` of the runs."""

    title: str
    status: str
    reason: str
    runs: int


class DryAccount(TypedDict):
    account: str
    window: Literal["5h", "day", "week"]
    runs_dry_at: str


class Computed(TypedDict):
    """What `toryo forecast --json` prints. Without open tasks there are no runs, and no ranges."""

    open_tasks: int
    runs: int
    runs_completed: int
    hours: Range | None
    dollars: Range | None
    tokens: Range | None
    assumed_minutes: float
    agents: dict[str, BusyAgent]
    waiting_hours: dict[str, float]
    unfinished: list[Unfinished]
    accounts: list[DryAccount]


class Forecast(Computed):
    """Hours are from `computed_at`. `max_concurrent`: of this one; the newest one may be another."""

    computed_at: str
    max_concurrent: int


class ForecastResult(Result):
    """`state`: that of the newest one. `forecast`: what was computed last, also while another one is computed.
    `reason`: why the newest one failed."""

    state: Literal["none", "waiting", "running", "done", "failed"]
    max_concurrent: int | None
    started_at: str | None
    ended_at: str | None
    reason: str | None
    forecast: Forecast | None


class OfProject(Parameters):
    project_id: Id = Field(description="The project.")


class StartForecast(OfProject):
    max_concurrent: int = Field(USUAL_SLOTS, ge=1, le=MOST_PROCESSES, description="How many processes run at a time.")
    refresh: bool = Field(
        False, description=f"Compute again, although the last one is less than {GOOD_FOR // MINUTE} minutes old."
    )


@operation(
    "show_forecast",
    grant=Grant.PERSON,
    parameters=OfProject,
    route=Route("GET", "/projects/{project_id}/forecast"),
    tool=False,
    reads=True,
)
def show_forecast(call: Call, wanted: OfProject) -> ForecastResult:
    """When the open tasks of a project will be done, and what they will cost. Each server remembers what it has
    computed itself until it stops."""
    project = call.project(wanted.project_id)
    forecasts = call.context.forecasts
    return _as_answer(forecasts.of(project.id) if forecasts is not None else None)


@operation(
    "start_forecast",
    grant=Grant.PERSON,
    parameters=StartForecast,
    route=Route("POST", "/projects/{project_id}/forecast"),
    tool=False,
    reads=True,
)
def start_forecast(call: Call, wanted: StartForecast) -> ForecastResult:
    """Compute the forecast of a project, beside the server, one project at a time. If one is being computed, or is less
    than 10 minutes old, you get that one."""
    project = call.project(wanted.project_id)
    forecasts = call.context.forecasts
    if forecasts is None:
        raise Refusal(
            Code.UNAVAILABLE,
            "This server computes no forecasts.",
            say("Use the command line{forecast:: …|.}", forecast=terminal("forecast")),
        )
    known = forecasts.of(project.id)
    if known is None or wanted.refresh or not known.answers(wanted.max_concurrent, call.now):
        forecasts.start(project.id, wanted.max_concurrent)
    return _as_answer(forecasts.of(project.id))


def _as_answer(known: Forecasted | None) -> ForecastResult:
    return {
        "success": True,
        "state": known.state if known is not None else "none",
        "max_concurrent": known.max_concurrent if known is not None else None,
        "started_at": iso(known.started_at) if known is not None else None,
        "ended_at": iso_or_none(known.ended_at) if known is not None else None,
        "reason": known.reason if known is not None else None,
        "forecast": _forecast(known),
    }


def _forecast(known: Forecasted | None) -> Forecast | None:
    if known is None or known.found is None or known.found_at is None or known.found_with is None:
        return None
    found = cast("Computed", known.found)
    unfinished: list[Unfinished] = [{**each, "reason": constant(each["reason"])} for each in found["unfinished"]]
    return {
        **found,
        "unfinished": unfinished,
        "computed_at": iso(known.found_at),
        "max_concurrent": known.found_with,
    }


def read(document: Mapping[str, Any]) -> Computed:
    """What `toryo forecast --json` has printed. Raises ValueError if it is something else."""
    return _computed().validate_python({**_WITHOUT_RUNS, **document})


@cache
def _computed() -> TypeAdapter[Computed]:
    return TypeAdapter(Computed)


_WITHOUT_RUNS: dict[str, Any] = {
    "runs_completed": 0,
    "hours": None,
    "dollars": None,
    "tokens": None,
    "assumed_minutes": 0.0,
    "agents": {},
    "waiting_hours": {},
    "unfinished": [],
}
