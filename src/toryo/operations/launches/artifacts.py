"""Takes the files that acceptance checks leave, in pieces. `tasks/kept_artifacts.py` says which are kept."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from pydantic import Field

from toryo.artifact_limits import (
    LARGEST,
    LARGEST_OF_CHECK,
    LARGEST_OF_RUN,
    LONGEST_NAME,
    MOST_FILES,
    PIECE,
    may_be_name,
)
from toryo.domain import artifacts as domain
from toryo.domain import ids
from toryo.domain.artifacts import Artifact
from toryo.domain.errors import Code, Refusal
from toryo.domain.launches import Check
from toryo.operations.calls.call import Call
from toryo.operations.calls.catalogue import Parameters, operation
from toryo.operations.calls.fields import Id, Printed
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result
from toryo.operations.tasks import kept_artifacts


class StoreArtifact(Parameters):
    check_id: Id = Field(description="From claim_starts; it has not ended yet.")
    place: int = Field(ge=0, lt=100, description="Of the check that left the file, in the order of claim_starts.")
    name: Printed = Field(min_length=1, max_length=LONGEST_NAME, description="Its path below the working directory.")
    size: int = Field(ge=0, le=LARGEST, description="How many bytes it has.")
    offset: int = Field(0, ge=0, description="How many bytes were sent before; 0 begins again.")
    content: Printed = Field(max_length=PIECE * 4 // 3 + 4, description="The next bytes, in base64.")


class ArtifactTaken(Result):
    """`next_offset`: how many of its bytes are stored."""

    artifact_id: str
    next_offset: int


@operation("store_artifact", grant=Grant.COORDINATOR, parameters=StoreArtifact)
def store_artifact(call: Call, told: StoreArtifact) -> ArtifactTaken:
    """Store a file that an acceptance check left, piece by piece, before its result is reported. What was sent before
    is not stored twice."""
    check = call.tx.launches.check(told.check_id)
    if check is None or check.finished_at is not None:
        raise _wrong(
            f"There is no check {told.check_id} that has not ended.", "Send the files of a check before its result."
        )
    if not may_be_name(told.name):
        raise _wrong("This is no name for a file.", "Send its path below the directory where the check ran.")
    content = _decoded(told.content)
    if told.offset + len(content) > told.size:
        raise _wrong(f"These are more than {told.size} bytes.", "Send the size of the whole file.")
    call.enter(check.project_id)
    artifact = _begun(call, check, told, content) if told.offset == 0 else _under_way(call, check, told)
    stored = call.tx.artifacts.arrived([artifact.id]).get(artifact.id, 0)
    if told.offset > stored:
        raise _wrong(f"Only {stored} bytes of it are stored.", "Send it again from the beginning.")
    if told.offset == stored and content:
        call.tx.artifacts.append(artifact.id, stored, content)
        stored += len(content)
    return {"success": True, "artifact_id": artifact.id, "next_offset": stored}


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise _wrong("The content is not base64.", "Send the bytes of the file in base64.") from None


def _begun(call: Call, check: Check, told: StoreArtifact, beginning: bytes) -> Artifact:
    """A file that was sent before is replaced: the check may have run again since."""
    others = call.tx.artifacts.of_check(check.id)
    same = [each for each in others if (each.place, each.name) == (told.place, told.name)]
    before = kept_artifacts.in_evidence(check.evidence)  # of a run before the reviews: they take no room of this one
    _refuse_more(told, [each for each in others if each not in same and each.id not in before])
    call.tx.artifacts.delete(each.id for each in same)
    kind = domain.media_type(told.name, beginning)
    made = Artifact(
        call.new_id(ids.ARTIFACT), check.id, check.task_id, told.place, told.name, told.size, kind, call.now
    )
    call.tx.artifacts.add(made)
    return made


def _refuse_more(told: StoreArtifact, run: Sequence[Artifact]) -> None:
    """If it is one file too many, or too large, beside the others of the same run."""
    own = [each for each in run if each.place == told.place]
    if len(own) >= MOST_FILES:
        raise _wrong(f"{told.name} is one file too many.", f"One check can leave {MOST_FILES} files.")
    for what, most, others in (
        ("The files of one check", LARGEST_OF_CHECK, own),
        ("The files of all checks that ran together", LARGEST_OF_RUN, run),
    ):
        if told.size + sum(each.bytes for each in others) > most:
            raise _wrong(f"{told.name} is too large.", f"{what} can have {most / 1e6:g} MB. Leave this one out.")


def _under_way(call: Call, check: Check, told: StoreArtifact) -> Artifact:
    for each in call.tx.artifacts.of_check(check.id):
        if (each.place, each.name, each.bytes) == (told.place, told.name, told.size):
            return each
    raise _wrong("The beginning of this file is not stored.", "Send it again from the beginning.")


def _wrong(message: str, instruction: str) -> Refusal:
    return Refusal(Code.VALIDATION_ERROR, message, instruction)
