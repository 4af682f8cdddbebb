"""Receives the output of processes while they run, and what they are doing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import KEPT_OF_BEGIN, KEPT_OF_END, Doing, Launch
from toryo.domain.times import SECOND
from toryo.operations.calls.call import DOING, Call
from toryo.operations.calls.catalogue import FewNames, Parameters, operation
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.launches import running_launches
from toryo.operations.launches.usage_counting import count_usage

LATE = 2 * SECOND
"""What is told again (an answer was lost) began at about the same time."""


class WhatItDoes(Parameters):
    """The newest call, result, sentence or printed line of the output, in a short line without secrets."""

    kind: Literal["called", "returned", "failed", "said", "printed"] = Field(description="What it was.")
    text: Printed = Field(max_length=200, description="What says most about it: a command, a path, words.")
    tool: Printed | None = Field(None, max_length=100, description="The tool, if one was called.")
    seconds: float = Field(ge=0, le=10_000_000, description="How long ago that was.")


Port = Annotated[int, Field(ge=1, le=65_535)]


class AppendLog(Parameters):
    launch_id: Id = Field(description="Whose output it is.")
    offset: int = Field(ge=0, description="How many characters were sent before.")
    text: Printed = Field(max_length=500_000, description="What the process printed.")
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost so far, as far as known.")
    doing: WhatItDoes | None = Field(None, description="What the process does now, if that has changed.")
    ports: FewNames[dict[Port, Port]] | None = Field(
        None, description="By the ports of the program, those of the machine at which they are reachable."
    )


class LogTaken(Result):
    next_offset: int


@operation("append_log", grant=Grant.COORDINATOR, parameters=AppendLog)
def append_log(call: Call, more: AppendLog) -> LogTaken:
    """Append output of a process as it appears. What was sent before is not stored twice. Send `doing` at most every
    few seconds, and only when it has changed; the text may be empty then."""
    launch = running_launches.reported_launch(call, more.launch_id)
    if more.usage is not None:
        call.enter(launch.project_id)  # an exit that is reported at the same moment has the last word
        if running_launches.reported_launch(call, launch.id).exit_reported_at is None:
            count_usage(call, launch, more.usage)
    if more.doing is not None:
        _keep(call, running_launches.reported_launch(call, launch.id), more.doing)
    if more.ports is not None:
        served = {str(port): at for port, at in more.ports.items()}
        known = running_launches.reported_launch(call, launch.id)
        call.tx.launches.save(known, replace(known, ports=served))
        call.tx.hint(DOING)
    end = call.tx.launches.log_end(launch.id)
    new = more.text[end - more.offset :] if more.offset <= end else ""
    if new:
        call.tx.launches.append_log(launch.id, end, new, call.now)
        call.tx.hint(f"log:{launch.id}")
        # Output is a sign of life.
        session = call.tx.sessions.of_launch(launch.id)
        if session is not None and not session.over:
            call.tx.sessions.save(session, replace(session, heard_at=call.now))
        end += len(new)
        if end > KEPT_OF_BEGIN + KEPT_OF_END:
            call.tx.launches.leave_out_log(launch.id, KEPT_OF_BEGIN, end - KEPT_OF_END)
    return {"success": True, "next_offset": end}


def _keep(call: Call, launch: Launch, told: WhatItDoes) -> None:
    """With the launch, and told to who follows events: it is no event itself, for nothing depends on it."""
    since = call.now - round(told.seconds * SECOND)
    doing = Doing(told.kind, told.text, told.tool, since)
    known = launch.doing
    if not launch.live:
        return
    if known is not None and replace(known, since=since) == doing and abs(known.since - since) <= LATE:
        return
    call.tx.launches.save(launch, replace(launch, doing=doing, doing_at=call.now))
    call.tx.hint(DOING)
