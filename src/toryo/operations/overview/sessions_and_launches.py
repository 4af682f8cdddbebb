"""Lists of sessions and launches. Changes nothing."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from toryo.domain.launches import Launch
from toryo.domain.sessions import Session
from toryo.domain.times import DAY, iso, of_datetime
from toryo.operations.calls import rendering, schemas, visibility
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.pagination import Page, Paged, cursor_of, cut, key_of, paged
from toryo.operations.launches import last_seen

MOST_LAUNCHES = 500
"""Of one page, where no other limit is given."""


class ListSessions(Paged):
    live: bool = Field(True, description="Only those that are signed in now.")
    project_id: Id | None = Field(None, description="Only of this project.")


class SessionsResult(Page):
    sessions: list[schemas.ListedSession]


@operation(
    "list_sessions",
    grant=Grant.PERSON,
    parameters=ListSessions,
    route=Route("GET", "/sessions"),
    tool=False,
    reads=True,
)
def list_sessions(call: Call, wanted: ListSessions) -> SessionsResult:
    """Who is signed in. `confirmed`: it or its Coordinator has reported since this server started."""
    found = call.tx.sessions.live() if wanted.live else call.tx.sessions.newest()
    visible = [
        each
        for each in found
        if visibility.sees(call, each.project_id) and wanted.project_id in (None, each.project_id)
    ]
    shown, more = cut(visible, wanted, lambda each: each.id)
    launches = {launch.id: launch for launch in call.tx.launches.find_all(each.launch_id for each in shown)}
    answer: SessionsResult = {
        "success": True,
        "sessions": [_listed(call, each, launches.get(each.launch_id)) for each in shown],
    }
    return paged(answer, more)


def _listed(call: Call, session: Session, launch: Launch | None) -> schemas.ListedSession:
    seen = last_seen.of(call, launch, session)
    return {
        **rendering.session(session),
        "last_seen_at": iso(seen.at),
        "confirmed": seen.confirmed,
        "doing": None if session.over else rendering.doing(launch),
    }


class ListLaunches(Paged):
    project_id: Id | None = Field(None, description="Only of this project.")
    agent_id: Id | None = Field(None, description="Only of this agent.")
    task_id: Id | None = Field(None, description="Only for this main task.")
    live: bool = Field(False, description="Only those that are not over.")
    since: AwareDatetime | None = Field(None, description="Only what still lived then.")
    until: AwareDatetime | None = Field(None, description="Only what was ordered before.")


class LaunchesResult(Page):
    launches: list[schemas.Launch]


@operation(
    "list_launches",
    grant=Grant.PERSON,
    parameters=ListLaunches,
    route=Route("GET", "/launches"),
    tool=False,
    reads=True,
)
def list_launches(call: Call, wanted: ListLaunches) -> LaunchesResult:
    """What was started, the newest first."""
    limit, after = wanted.limit or MOST_LAUNCHES, key_of(wanted.cursor, str)
    since = of_datetime(wanted.since) if wanted.since is not None else None
    found = call.tx.launches.page(
        limit + 1,
        projects=visibility.visible_projects(call)
        if wanted.project_id is None
        else [call.project(wanted.project_id).id],
        agent_id=wanted.agent_id,
        task_id=wanted.task_id,
        since=since,
        not_before=since - call.context.limits.run_time - DAY if since is not None else None,
        until=of_datetime(wanted.until) if wanted.until is not None else None,
        live=wanted.live or None,
        after=after[0] if after is not None else None,
    )
    more = cursor_of(found[limit - 1].id) if len(found) > limit else None
    answer: LaunchesResult = {"success": True, "launches": [rendering.launch(each) for each in found[:limit]]}
    return paged(answer, more)
