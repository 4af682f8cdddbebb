"""Tool names of an older protocol: still supported; their answers name the replacement in `deprecated`.

They call other operations and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

import structlog
from pydantic import Field
from typing_extensions import TypedDict

from toryo.operations.calls import results
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Available, Later, Operation, Parameters, catalogue, declare, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Said

_log = structlog.get_logger("toryo.server")


UNTIL = "It answers until six months after the release of Toryo 0.2 (docs/how-to/migration.md)."
"""Said by each of them."""


class FormerResult(Said):
    deprecated: str


def _alias(name: str, now: str) -> None:
    """Declares `name` as the operation that is called `now` today."""
    today: Operation = catalogue()[now]
    told = f"{name} is deprecated: call {now}. {UNTIL}"

    def handler(call: Call, parameters: Any) -> Mapping[str, Any] | Later:
        _warn(call, name, now)
        answer = today.handler(call, parameters)
        return answer if isinstance(answer, Later) else {**answer, "deprecated": told}

    keys = {**get_type_hints(today.result, localns=vars(results), include_extras=True), "deprecated": str}
    former = TypedDict(f"Former{today.result.__name__}", keys)  # type: ignore[misc]
    declare(
        Operation(
            name=name,
            summary=f"Deprecated: call {now}. {UNTIL}",
            grant=today.grant,
            parameters=today.parameters,
            result=former,
            handler=handler,
            waits=today.waits,
            leads=today.leads,
            listed=False,
            available=today.available,
        )
    )


def _warn(call: Call, name: str, now: str) -> None:
    _log.warning("deprecated_tool", tool=name, instead=now, agent_id=call.agent.id, session=call.session.id)


_alias("get_pending_tasks", "get_my_task")
_alias("report_execution_complete", "report_completed")


class ExecutionStart(Parameters):
    task_id: str | None = Field(None, max_length=64, description="Not needed.")


@operation(
    "report_execution_start",
    available=Available.AFTER_THE_END,
    grant=Grant.ANY_SESSION,
    parameters=ExecutionStart,
    listed=False,
)
def report_execution_start(call: Call, _: ExecutionStart) -> FormerResult:
    """Deprecated: nothing to do, get_my_task records it. It answers until six months after the release of Toryo 0.2
    (docs/how-to/migration.md)."""
    _warn(call, "report_execution_start", "get_my_task")
    told = f"report_execution_start is deprecated: get_my_task records the start. {UNTIL}"
    return {"success": True, "deprecated": told}
