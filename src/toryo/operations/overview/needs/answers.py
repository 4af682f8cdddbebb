"""A need as people and programs are shown it, with the page of the dashboard that is about it."""

from __future__ import annotations

from urllib.parse import quote

from toryo.domain.needs import Kind, Need, Request
from toryo.domain.times import Millis
from toryo.operations.calls import deeds, rendering, schemas
from toryo.operations.calls.wire import wire


def need(each: Need, now: Millis) -> schemas.Need:
    answer = _need(each)
    answer["questions"] = [rendering.question(asked, now) for asked in each.questions]
    return answer


def _path(need: Need) -> str:
    project = f"/p/{quote(need.project_id, safe='')}" if need.project_id is not None else None
    if need.kind is Kind.MESSAGE and project is not None and need.agent_id is not None:
        return f"{project}/chat?agent={quote(need.agent_id, safe='')}"
    if need.kind is Kind.REVIEW and project is not None and need.task_id is not None:
        return f"{project}/review/{quote(need.task_id, safe='')}"
    if need.task_id is not None:
        return f"/t/{quote(need.task_id, safe='')}"
    return project or "/"


_request = wire(Request, schemas.NeedRequest)
_need = wire(
    Need,
    schemas.Need,
    "questions",
    actions=lambda each: deeds.as_answer(each.actions),
    request=lambda each: _request(each.request) if each.request is not None else None,
    path=_path,
)
