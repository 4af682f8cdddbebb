"""Which files stay with the result of a run of checks: those that the result names, and of each task the last runs.

`launches/artifacts.py` takes the files, `launches/check_results.py` the results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import cast

from toryo.artifact_limits import RUNS_KEPT
from toryo.domain.artifacts import Artifact
from toryo.domain.fast_dataclasses import replace
from toryo.domain.launches import Check
from toryo.domain.tasks import CheckEvidence, StoredArtifact
from toryo.operations.calls.call import Call


def keep(
    call: Call, check: Check, named: Sequence[Sequence[str]], staying: Iterable[CheckEvidence] = ()
) -> list[list[StoredArtifact]]:
    """The files that each result names, in their order, as far as they are stored; all others of this run but those of
    the evidence that stays, and those of runs long ago, are deleted."""
    of_run = {each.id: each for each in call.tx.artifacts.of_check(check.id)}
    arrived = call.tx.artifacts.arrived(of_run) if of_run else {}
    kept = [
        [
            of_run[each]
            for each in dict.fromkeys(one)
            if each in of_run and of_run[each].place == place and arrived.get(each, 0) == of_run[each].bytes
        ]
        for place, one in enumerate(named)
    ]
    call.tx.artifacts.delete(of_run.keys() - {each.id for one in kept for each in one} - in_evidence(staying))
    if any(kept):
        for old in call.tx.artifacts.checks_with_some(check.task_id)[RUNS_KEPT:]:
            _forget(call, old)
    return [[_stored(each) for each in one] for one in kept]


def in_evidence(evidence: Iterable[CheckEvidence] | None) -> set[str]:
    """The files that it names."""
    return {file["artifact_id"] for each in evidence or () for file in each.get("artifacts", ())}


def forget_interrupted(call: Call, check: Check) -> None:
    """What was sent by a run that never reported: it is run again."""
    sent = {each.id for each in call.tx.artifacts.of_check(check.id)}
    call.tx.artifacts.delete(sent - in_evidence(check.evidence))


def delete_one(call: Call, artifact: Artifact, by: str) -> None:
    """The result of its check says so from then on."""
    call.tx.artifacts.delete([artifact.id])
    _rewrite(
        call, artifact.check_id, lambda each: _without(each, {artifact.id}, f"{artifact.name} was deleted by {by}.")
    )


def _stored(each: Artifact) -> StoredArtifact:
    return {"artifact_id": each.id, "name": each.name, "bytes": each.bytes, "media_type": each.media_type}


def _forget(call: Call, check_id: str) -> None:
    gone = {each.id for each in call.tx.artifacts.of_check(check_id)}
    call.tx.artifacts.delete(gone)
    note = f"The files of this run are no longer kept: only those of the last {RUNS_KEPT} runs are."
    _rewrite(call, check_id, lambda each: _without(each, gone, note))


def _rewrite(call: Call, check_id: str, change: Callable[[CheckEvidence], CheckEvidence]) -> None:
    check = call.tx.launches.check(check_id)
    if check is not None and check.evidence:
        call.tx.launches.save_check(check, replace(check, evidence=[change(each) for each in check.evidence]))


def _without(each: CheckEvidence, gone: Collection[str], note: str) -> CheckEvidence:
    files = each.get("artifacts", [])
    left = [file for file in files if file["artifact_id"] not in gone]
    if len(left) == len(files):
        return each
    others = {name: value for name, value in each.items() if name != "artifacts"}
    told = {**others, **({"artifacts": left} if left else {}), "left_out": [note, *each.get("left_out", ())]}
    return cast("CheckEvidence", told)
