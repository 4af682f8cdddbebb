"""The stored output of a launch. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from toryo.deeds import Blank, deed
from toryo.domain import ids, usages
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Launch
from toryo.domain.times import DAY, SECOND, Millis, iso
from toryo.domain.wording import say
from toryo.long_waits import LONGEST_WAIT_SECONDS
from toryo.operations.calls import did_you_mean, rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Later, Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result


class ReadLog(Parameters):
    launch_id: Id = Field(description="The launch.")
    offset: int = Field(0, ge=0, description="How many characters you have read.")
    wait_seconds: int = Field(0, ge=0, le=LONGEST_WAIT_SECONDS, description="How long to wait for more.")


class PieceTime(TypedDict):
    """From this character on, the text came at this time."""

    offset: int
    at: str


class LogResult(Result):
    """`times`: when the pieces of `text` came, by their place in it after the offset; empty where that was not
    recorded. `text` says so where the middle of the output is not kept, and `next_offset` counts that."""

    launch_id: str
    text: str
    times: list[PieceTime]
    next_offset: int
    ended: bool
    removed: NotRequired[str]
    launch: schemas.LaunchUsed


@operation(
    "read_launch_log",
    grant=Grant.PERSON,
    parameters=ReadLog,
    route=Route("GET", "/launches/{launch_id}/log"),
    tool=False,
    reads=True,
    waits=True,
)
def read_launch_log(call: Call, wanted: ReadLog) -> LogResult | Later:
    """Return the output of a launch, from an offset. `removed` says when it is no longer kept."""
    launch = call.tx.launches.find(wanted.launch_id)
    if launch is None or not visibility.sees(call, launch.project_id):
        raise Refusal(
            Code.LAUNCH_NOT_FOUND,
            say("There is no launch {launch_id}.", launch_id=wanted.launch_id),
            did_you_mean.hint(
                wanted.launch_id,
                ((each.id, "") for each in call.tx.launches.listed() if visibility.sees(call, each.project_id)),
                say(
                    "{deed:Show an agent's latest launch (…), or list the launches for their ids.}",
                    deed=deed("log", launch_id=Blank("AGENT")),
                ),
            ),
        )
    parts = call.tx.launches.log(launch.id, wanted.offset)
    text, times, end = _joined(parts, wanted.offset)
    ended = launch.exit_reported_at is not None
    if not text and not ended and wanted.wait_seconds and call.may_wait:
        return Later(frozenset({f"log:{launch.id}", f"launch:{launch.id}"}))
    tail, told_before = call.tx.launches.exit_record(launch.id)
    if not parts and wanted.offset == 0 and tail:
        text, end = tail, len(tail)
    usage = call.tx.usages.of_launch(launch.id)
    used = usage or usages.read(told_before or {})
    answer: LogResult = {
        "success": True,
        "launch_id": launch.id,
        "text": text,
        "times": times,
        "next_offset": end,
        "ended": ended,
        "launch": {**rendering.launch(launch), "usage": rendering.usage(used)},
    }
    return {**answer, "removed": _removed(call, launch)} if _is_removed(call, launch, parts) else answer


def _joined(parts: Sequence[tuple[int, str, Millis | None]], offset: int) -> tuple[str, list[PieceTime], int]:
    """The text from this offset on, with a line where the middle was left out; when its pieces came, one for each
    second at most (they come twice a second); and where it ends."""
    text: list[str] = []
    times: list[PieceTime] = []
    last: Millis | None = None
    length, end = 0, offset
    for start, part, at in parts:
        if start > end:
            text.append(f"\n… {start - end} characters of output were omitted here …\n")
            length += len(text[-1])
        if at is not None and (last is None or at - last >= SECOND):
            times.append({"offset": offset + length, "at": iso(at)})
            last = at
        text.append(part[max(0, end - start) :])
        length += len(text[-1])
        end = start + len(part)
    return "".join(text), times, end


def oldest_kept(call: Call) -> str:
    """Output is no longer kept for launches whose ids come before this one."""
    return ids.make(ids.LAUNCH, max(0, call.now - call.context.settings.log_keep_days * DAY), 0)


def _is_removed(call: Call, launch: Launch, parts: Sequence[Any]) -> bool:
    """Nothing is left of what it printed: not even before the offset that is asked for."""
    old = launch.id < oldest_kept(call) and not launch.live
    return old and not parts and call.tx.launches.log_end(launch.id) == 0


def _removed(call: Call, launch: Launch) -> str:
    days = call.context.settings.log_keep_days
    where = f"the machine of its Coordinator ({launch.coordinator_id})" if launch.coordinator_id else "its machine"
    return (
        f"The output of this launch was removed: the server keeps it for {days} days (TORYO_LOG_KEEP_DAYS). Its "
        f"file may still be on {where}: {launch.id}.log in the log directory there."
    )
