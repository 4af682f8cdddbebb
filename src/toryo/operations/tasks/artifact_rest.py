"""The files that acceptance checks of a task have left: for people, over REST and on the command line."""

from __future__ import annotations

import base64

from pydantic import Field

from toryo.artifact_limits import LONGEST_NAME
from toryo.deeds import deed
from toryo.domain import artifacts
from toryo.domain.errors import Code, Refusal
from toryo.domain.tasks import StoredArtifact
from toryo.domain.wording import say
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, Route, operation
from toryo.operations.calls.fields import Id
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.listed_parameters import PLAIN
from toryo.operations.calls.pagination import Page, Paged, cursor_of, key_of, paged
from toryo.operations.calls.results import Result
from toryo.operations.calls.wire import wire
from toryo.operations.tasks import kept_artifacts

USUAL = 100
_LONGEST_CURSOR = 200 + LONGEST_NAME * 4 * 4 // 3
"""It holds a name, in UTF-8 and base64."""


class ListArtifacts(Paged):
    task_id: Id = Field(description="The task.")
    cursor: str | None = Field(
        None, max_length=_LONGEST_CURSOR, description="next_cursor of the previous page.", json_schema_extra=PLAIN
    )


class Artifact(StoredArtifact):
    """`check_id`: the run of the checks in which it was left."""

    check_id: str
    created_at: str


class Artifacts(Page):
    artifacts: list[Artifact]


@operation(
    "list_artifacts",
    grant=Grant.PERSON,
    parameters=ListArtifacts,
    route=Route("GET", "/tasks/{task_id}/artifacts"),
    tool=False,
    reads=True,
)
def list_artifacts(call: Call, wanted: ListArtifacts) -> Artifacts:
    """The files that the acceptance checks of a task have left; those of the newest run first."""
    task, limit = call.task(wanted.task_id), wanted.limit or USUAL
    key = key_of(wanted.cursor, str, int, str)
    found = call.tx.artifacts.of_task(task.id, limit + 1, (key[0], key[1], key[2]) if key is not None else None)
    last = found[limit - 1] if len(found) > limit else None
    answer: Artifacts = {
        "success": True,
        "artifacts": [_shown(each) for each in found[:limit]],
    }
    return paged(answer, cursor_of(last.check_id, last.place, last.name) if last is not None else None)


_shown = wire(artifacts.Artifact, Artifact, artifact_id="id")


class OneArtifact(Parameters):
    task_id: Id = Field(description="The task.")
    artifact_id: Id = Field(description="The file.")


class ArtifactContent(Result):
    """`content`: its bytes in base64; REST answers with the bytes themselves."""

    name: str
    media_type: str
    content: str


@operation(
    "read_artifact",
    grant=Grant.PERSON,
    parameters=OneArtifact,
    route=Route("GET", "/tasks/{task_id}/artifacts/{artifact_id}", file=True),
    tool=False,
    reads=True,
)
def read_artifact(call: Call, wanted: OneArtifact) -> ArtifactContent:
    """A file that an acceptance check has left. Pictures may be shown by a page; everything else is a download."""
    found = _known(call, wanted)
    content = call.tx.artifacts.content(found.id)
    if len(content) != found.bytes:
        raise _unknown(wanted)
    return {
        "success": True,
        "name": found.name,
        "media_type": found.media_type,
        "content": base64.b64encode(content).decode(),
    }


class ArtifactDeleted(Result):
    artifact_id: str


@operation(
    "delete_artifact",
    grant=Grant.OWNER,
    parameters=OneArtifact,
    route=Route("DELETE", "/tasks/{task_id}/artifacts/{artifact_id}"),
    tool=False,
)
def delete_artifact(call: Call, wanted: OneArtifact) -> ArtifactDeleted:
    """Delete a file that an acceptance check has left. The result of the check says who deleted it."""
    task = call.task(wanted.task_id)
    call.enter(task.project_id)
    found = _known(call, wanted)
    kept_artifacts.delete_one(call, found, call.agent.name)
    data = {"artifact_id": found.id, "name": found.name}
    call.event("artifact.deleted", task=task, data=data)
    return {"success": True, "artifact_id": found.id}


def _known(call: Call, wanted: OneArtifact) -> artifacts.Artifact:
    task, found = call.task(wanted.task_id), call.tx.artifacts.find(wanted.artifact_id)
    if found is None or found.task_id != task.id:
        raise _unknown(wanted)
    return found


def _unknown(wanted: OneArtifact) -> Refusal:
    return Refusal(
        Code.ARTIFACT_NOT_FOUND,
        say("Task {task_id} has no artifact {artifact_id}.", task_id=wanted.task_id, artifact_id=wanted.artifact_id),
        say("{deed:List them: ….}", deed=deed("list_artifacts", task_id=wanted.task_id)),
        task_id=wanted.task_id,
    )
