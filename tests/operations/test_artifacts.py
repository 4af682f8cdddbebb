"""Files that acceptance checks leave: stored once with the result, within limits, seen by those who see the task."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.stories import Answer, Caller, Process, World
from toryo import artifact_limits
from toryo.domain import acceptance
from toryo.domain.errors import Refusal

PNG = b"\x89PNG\r\n\x1a\n rest"
SHOTS = [{"command": "make test", "artifacts": ["shots/*.png", "report.html"]}]

pytestmark = pytest.mark.crew(workers=2, decomposition="never")


def reporting(worker: Process) -> Answer:
    """The checks that a success report starts."""
    asked = {"result": "success", "summary": "done"}
    worker.world.perform("report_completed", asked, worker.credentials, may_wait=True)
    (check,) = worker.world.coordinator().claim(free_slots=0)["checks"]
    found: Answer = check
    return found


def checking(crew: World, acceptance: Any = None) -> tuple[str, Process, Answer]:
    task = crew.task("w1", acceptance=acceptance or SHOTS)
    worker = crew.start("w1")
    return task, worker, reporting(worker)


def piece(name: str, content: bytes, *, place: int = 0, **more: Any) -> Answer:
    return {
        "place": place,
        "name": name,
        "size": len(content),
        "content": base64.b64encode(content).decode(),
        **more,
    }


def store(crew: World, check: Answer, name: str = "shots/a.png", content: bytes = PNG, **more: Any) -> str:
    asked = piece(name, content, **more)
    return str(crew.coordinator().call("store_artifact", check_id=check["check_id"], **asked)["artifact_id"])


def refused(crew: World, check: Answer, **asked: Any) -> str:
    given = piece("a.txt", b"a") | asked
    answer = crew.coordinator().refused("store_artifact", "validationError", check_id=check["check_id"], **given)
    return str(answer["message"])


def report(crew: World, check: Answer, *artifacts: str, outcome: str = "passed", **more: Any) -> Answer:
    run = {"check": "make test", "outcome": outcome, "artifacts": list(artifacts), **more}
    return crew.coordinator().call("report_check_result", check_id=check["check_id"], failures=[], results=[run])


def shown(crew: World, task: str) -> Answer:
    (found,) = crew.show(task)["check_results"]
    evidence: Answer = found
    return evidence


def listed(crew: World, task: str) -> list[str]:
    return [each["name"] for each in crew.owner.call("list_artifacts", task_id=task)["artifacts"]]


def read(crew: World, task: str, artifact: str) -> bytes:
    return base64.b64decode(crew.owner.call("read_artifact", task_id=task, artifact_id=artifact)["content"])


def test_what_a_check_left_stands_in_its_evidence_and_can_be_read(crew: World) -> None:
    task, _, check = checking(crew)
    assert check["checks"] == SHOTS
    picture, page = store(crew, check), store(crew, check, "report.html", b"<p>")
    report(crew, check, picture, page, left_out=["shots/b.png is left out."])
    found = shown(crew, task)
    assert found["artifacts"] == [
        {"artifact_id": picture, "name": "shots/a.png", "bytes": len(PNG), "media_type": "image/png"},
        {"artifact_id": page, "name": "report.html", "bytes": 3, "media_type": "text/html"},
    ]
    assert found["left_out"] == ["shots/b.png is left out."]
    assert listed(crew, task) == ["report.html", "shots/a.png"]
    assert (read(crew, task, picture), read(crew, task, page)) == (PNG, b"<p>")
    (traced,) = crew.owner.call("show_trace", correlation_id=task, below=True)["tasks"]
    assert traced["checks"][0]["evidence"] == [found]


def test_an_owner_deletes_a_file_and_the_evidence_says_so(crew: World) -> None:
    task, _, check = checking(crew)
    picture, page = store(crew, check), store(crew, check, "report.html", b"<p>")
    report(crew, check, picture, page, left_out=["shots/b.png is left out."])
    asked = {"task_id": task, "artifact_id": picture}
    assert crew.owner.call("delete_artifact", **asked)["artifact_id"] == picture
    found = shown(crew, task)
    assert [each["artifact_id"] for each in found["artifacts"]] == [page]
    assert found["left_out"] == ["shots/a.png was deleted by Owner.", "shots/b.png is left out."]
    assert listed(crew, task) == ["report.html"]
    [event] = crew.events("artifact.deleted")
    assert (event["task_id"], event["data"]) == (task, {"artifact_id": picture, "name": "shots/a.png"})
    for again in ("read_artifact", "delete_artifact"):
        crew.owner.refused(again, "artifactNotFound", **asked)
    other = crew.task("w2")
    crew.owner.refused("delete_artifact", "artifactNotFound", task_id=other, artifact_id=page)
    crew.owner.refused("read_artifact", "artifactNotFound", task_id=other, artifact_id=page)
    lena = crew.member("lena")
    crew.owner.call("add_member", project_id=crew.project_id, agent_id="lena")
    assert lena.call("read_artifact", task_id=task, artifact_id=page)["name"] == "report.html"
    lena.refused("delete_artifact", task_id=task, artifact_id=page)
    assert listed(crew, task) == ["report.html"]
    crew.owner.call("delete_artifact", task_id=task, artifact_id=page)
    assert "artifacts" not in shown(crew, task)


def test_a_failed_check_keeps_its_files_and_the_next_run_has_its_own(crew: World) -> None:
    task, worker, check = checking(crew)
    first = store(crew, check, content=b"one")
    report(crew, check, first, outcome="failed")
    worker.refused("report_completed", "checksFailed", result="success", summary="done")
    again = reporting(worker)
    second = store(crew, again, content=b"two")
    report(crew, again, second)
    assert [each["artifact_id"] for each in shown(crew, task)["artifacts"]] == [second]
    assert (read(crew, task, first), read(crew, task, second)) == (b"one", b"two")
    assert listed(crew, task) == ["shots/a.png"] * 2


def test_a_file_arrives_in_pieces_and_what_is_sent_again_is_not_stored_twice(crew: World) -> None:
    task, _, check = checking(crew)
    whole = bytes(range(256)) * 40
    parts = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    artifact = ""
    for number, part in enumerate(parts):
        for _ in range(2):  # the answer to the first was lost
            asked = piece("a.bin", part, size=len(whole), offset=number * 4096)
            answer = crew.coordinator().call("store_artifact", check_id=check["check_id"], **asked)
            assert answer["next_offset"] == number * 4096 + len(part)
            artifact = answer["artifact_id"]
    report(crew, check, artifact)
    report(crew, check, artifact)
    assert read(crew, task, artifact) == whole
    assert len(shown(crew, task)["artifacts"]) == 1
    assert listed(crew, task) == ["a.bin"]


def test_a_check_that_runs_again_on_another_machine_replaces_what_was_sent(crew: World) -> None:
    task, _, check = checking(crew)
    store(crew, check, content=b"before")
    store(crew, check, "shots/gone.png")
    new = store(crew, check, content=b"after")
    report(crew, check, new)
    assert listed(crew, task) == ["shots/a.png"]
    assert read(crew, task, new) == b"after"


def test_a_file_of_which_a_part_is_missing_is_not_shown_and_the_result_counts(crew: World) -> None:
    task, worker, check = checking(crew)
    half = store(crew, check, "a.txt", b"abc", size=6)
    crew.owner.refused("read_artifact", "artifactNotFound", task_id=task, artifact_id=half)
    report(crew, check, half, "art_unknown")
    assert "artifacts" not in shown(crew, task)
    assert shown(crew, task)["left_out"] == ["2 files did not arrive."]
    assert listed(crew, task) == []
    worker.report()
    assert crew.status(task) == "completed"


def test_a_result_names_files_of_its_own_checks_only(crew: World) -> None:
    task, _, check = checking(crew)
    mine, others = store(crew, check), store(crew, check, "b.txt", place=1)
    report(crew, check, mine, others)
    assert [each["artifact_id"] for each in shown(crew, task)["artifacts"]] == [mine]


def test_limits_hold_for_one_file_one_check_and_one_run(crew: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, check = checking(crew)
    assert "size" in refused(crew, check, size=artifact_limits.LARGEST + 1)
    large = artifact_limits.LARGEST
    for number in range(2):
        store(crew, check, f"{number}.bin", b"", size=large)
    assert "too large" in refused(crew, check, size=large)
    for place in range(1, 4):
        for number in range(2):
            store(crew, check, f"{number}.bin", b"", size=large, place=place)
    store(crew, check, "2.bin", b"", size=1_000_000, place=1)
    store(crew, check, "2.bin", b"", size=1_000_000, place=2)
    store(crew, check, "0.bin", b"", size=large, place=4)
    assert "too large" in refused(crew, check, size=1, place=5)


def test_a_check_leaves_at_most_ten_files(crew: World) -> None:
    _, _, check = checking(crew)
    for number in range(artifact_limits.MOST_FILES):
        store(crew, check, f"{number}.txt")
    assert "too many" in refused(crew, check)
    store(crew, check, "0.txt", b"replaced")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a", "a/../b", "a//b", "./a", "a\\b", "a\nb", "a\u202eb", "a/", "x" * 501, ""]
)
def test_a_name_that_leads_elsewhere_or_cannot_be_shown_is_refused(crew: World, name: str) -> None:
    _, _, check = checking(crew)
    code = "tooLarge" if len(name) > 500 else "validationError"
    asked = piece(name, b"a")
    crew.coordinator().refused("store_artifact", code, check_id=check["check_id"], **asked)


@pytest.mark.parametrize("name", ["Screenshot 9.41.00\u202fAM.png", "全角\u3000空白.png", "👩\u200d💻.png"])
def test_a_name_as_people_and_systems_give_it_is_taken(crew: World, name: str) -> None:
    task, _, check = checking(crew)
    report(crew, check, store(crew, check, name))
    assert listed(crew, task) == [name]


@pytest.mark.parametrize("letter", ["a", "鏡", "🖼", '"'])
def test_the_list_goes_on_behind_the_longest_name(crew: World, letter: str) -> None:
    task, _, check = checking(crew)
    named = [letter * 499 + end for end in "123"]
    report(crew, check, *(store(crew, check, each) for each in named))
    found: list[str] = []
    cursor = None
    while cursor or not found:
        page = crew.owner.call("list_artifacts", task_id=task, limit=1, cursor=cursor)
        found += [each["name"] for each in page["artifacts"]]
        cursor = page.get("next_cursor")
    assert found == named


def test_pieces_that_do_not_fit_together_are_refused(crew: World) -> None:
    _, _, check = checking(crew)
    assert "base64" in refused(crew, check, content="a!")
    assert "more than" in refused(crew, check, size=0)
    assert "beginning" in refused(crew, check, offset=1, size=2)
    store(crew, check, "a.txt", b"ab", size=9)
    assert "Only 2 bytes" in refused(crew, check, offset=5, size=9)


def test_a_check_that_has_ended_takes_no_more_files(crew: World) -> None:
    _, _, check = checking(crew)
    report(crew, check)
    assert "has not ended" in refused(crew, check)
    assert "has not ended" in refused(crew, {"check_id": "chk_none"})


def test_files_of_the_last_runs_are_kept_and_the_others_say_so(crew: World) -> None:
    task, worker, check = checking(crew)
    stored = []
    for number in range(artifact_limits.RUNS_KEPT + 2):
        check = check if number == 0 else reporting(worker)
        stored.append(store(crew, check, content=b"%d" % number))
        report(crew, check, stored[-1], outcome="failed")
        worker.refused("report_completed", "checksFailed", result="success", summary="done")
    found = crew.owner.call("list_artifacts", task_id=task)["artifacts"]
    assert [each["artifact_id"] for each in found] == stored[:1:-1]
    crew.owner.refused("read_artifact", "artifactNotFound", task_id=task, artifact_id=stored[0])
    (traced,) = crew.owner.call("show_trace", correlation_id=task, below=True)["tasks"]
    runs = [each["evidence"][0] for each in traced["checks"]]
    assert "no longer kept" in runs[0]["left_out"][0]
    assert "artifacts" not in runs[1]
    assert "left_out" not in runs[2]


def test_only_who_sees_the_task_sees_its_files(crew: World) -> None:
    task, worker, check = checking(crew)
    artifact = store(crew, check)
    report(crew, check, artifact)
    other = crew.task("w2")
    here, crew.project_id = crew.project_id, crew.project(name="Elsewhere")
    elsewhere = crew.task(None, status="todo")
    crew.project_id = here
    for each in (other, elsewhere):  # and nothing tells that it exists
        told = [
            crew.owner.refused("read_artifact", "artifactNotFound", task_id=each, artifact_id=asked)["message"]
            for asked in (artifact, "art_none")
        ]
        assert told[0].replace(artifact, "art_none") == told[1]
    crew.owner.call("add_person", person_id="mia", login="member")
    stranger = Caller(crew, crew.owner.call("make_access_token", name="t", person_id="mia")["token"])
    stranger.refused("read_artifact", "taskNotFound", task_id=task, artifact_id=artifact)
    stranger.refused("list_artifacts", "taskNotFound", task_id=task)
    asked = piece("a", b"a")
    worker.refused("store_artifact", "coordinatorRequired", check_id=check["check_id"], **asked)


def test_patterns_are_checked_when_they_are_written(crew: World) -> None:
    def told(code: str, **check: Any) -> str:
        asked = {"project_id": crew.project_id, "title": "x", "acceptance": [{"command": "make", **check}]}
        return str(crew.owner.refused("file_task", code, **asked)["message"])

    assert "leaves the working directory" in told("validationError", artifacts=["../*.png"])
    told("validationError", artifacts=[])
    told("validationError", artifacts=["a"] * 6)
    told("validationError", artifacts="a")
    asked = {"project_id": crew.project_id, "title": "x", "acceptance": [{"file": "a", "artifacts": ["b"]}]}
    crew.owner.refused("file_task", "validationError", **asked)


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"command": "make", "artifacts": ["a/../../b"]}, "leaves the working directory"),
        ({"command": "make", "artifacts": ["a"] * 6}, "at most 5"),
        ({"command": "make", "artifacts": "a"}, "not a list of patterns"),
        ({"file": "a", "artifacts": ["b"]}, "belongs to a command"),
    ],
)
def test_a_project_requires_no_impossible_patterns(check: Answer, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        acceptance.required_checks([check])


def test_a_check_that_takes_long_is_handed_to_nobody_else_while_its_coordinator_runs_it(crew: World) -> None:
    task, _, check = checking(crew)
    mine = [check["check_id"]]
    for _ in range(5):
        crew.advance(40)
        assert crew.coordinator().claim(free_slots=0, checking=mine)["checks"] == []
        assert crew.coordinator("other").claim(free_slots=0, checking=[])["checks"] == []
    report(crew, check, store(crew, check))
    assert listed(crew, task) == ["shots/a.png"]


def test_files_of_a_run_that_was_interrupted_leave_the_room_to_the_next(crew: World) -> None:
    task, _, check = checking(crew)
    for number in range(artifact_limits.MOST_FILES):
        store(crew, check, f"shots/before-{number}.png")
    (again,) = crew.coordinator().claim(free_slots=0, checking=[])["checks"]
    assert again["check_id"] == check["check_id"]
    stored = [store(crew, again, f"shots/after-{number}.png") for number in range(artifact_limits.MOST_FILES)]
    report(crew, again, *stored)
    assert listed(crew, task) == [f"shots/after-{number}.png" for number in range(artifact_limits.MOST_FILES)]


def test_what_is_still_arriving_is_not_listed(crew: World) -> None:
    task, worker, check = checking(crew)
    report(crew, check, store(crew, check), outcome="failed")
    worker.refused("report_completed", "checksFailed", result="success", summary="done")
    again = reporting(worker)
    second = store(crew, again, "shots/b.png")
    store(crew, again, "shots/c.png", content=b"half", size=8)
    assert listed(crew, task) == ["shots/a.png"]
    report(crew, again, second)
    assert listed(crew, task) == ["shots/b.png", "shots/a.png"]


def required(crew: World, *commands: str) -> None:
    found = [{"command": each, "artifacts": ["shots/*.png"]} for each in commands]
    crew.owner.call("edit_project", project_id=crew.project_id, settings={"required_checks": found})


@pytest.mark.parametrize("runs_again", [True, False])
def test_checks_that_run_again_after_a_review_have_room_and_take_away_nothing_else(
    crew: World, runs_again: bool
) -> None:
    required(crew, "make test")
    task = crew.task("w1", acceptance=[{"review": {"by": "w2"}}])
    worker = crew.start("w1")
    check = reporting(worker)
    first = [store(crew, check, f"shots/before-{number}.png") for number in range(artifact_limits.MOST_FILES)]
    report(crew, check, *first)
    worker.ask("report_completed", result="success", summary="done")
    crew.coordinator().exited(worker.launch_id, exit_code=0)
    reviewer = crew.start("w2")
    reviewer.next()
    required(crew, *(["make test"] if runs_again else []), "make lint")
    reviewer.call("submit_review", verdict="approve", summary="Fine.")
    (again,) = crew.coordinator().claim(free_slots=0, checking=[])["checks"]
    assert again["check_id"] == check["check_id"]
    assert len(read(crew, task, first[0])) == len(PNG)  # the evidence still names it
    names = [each["command"] for each in again["checks"]]
    second = [store(crew, again, f"shots/after-{number}.png") for number in range(artifact_limits.MOST_FILES)]
    results = [{"check": each, "outcome": "passed", "artifacts": [] if at else second} for at, each in enumerate(names)]
    crew.coordinator().call("report_check_result", check_id=check["check_id"], failures=[], results=results)
    evidence = crew.show(task)["check_results"]
    named = [file["artifact_id"] for each in evidence for file in each.get("artifacts", ())]
    assert sorted(named) == sorted(second if runs_again else [*first, *second])
    assert all(read(crew, task, each) == PNG for each in named)
