"""A git worktree per task, with a server, a Coordinator and commands as real processes: who sees what, what is kept
when somebody is killed, and what becomes of the work when a person merges or discards it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.repositories import Repository
from tests.scenarios.sites import Site

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, method="signal")]

Answer = dict[str, Any]


class SiteRepository(Repository):
    """A project in a repository, as the person who has it sees it."""

    def __init__(self, site: Site, name: str, **settings: Any) -> None:
        self.site, self.name = site, name
        self.path = site.project(name, isolation="worktree", commands_from="managers", **settings)
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit(a="one\n")

    def files(self) -> dict[str, str]:
        """What stands in the person's own checkout."""
        return {each.name: each.read_text() for each in self.path.iterdir() if each.is_file()}

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def order(self, agent_id: str, title: str, command: str, **more: Any) -> str:
        """A task in progress for somebody who runs commands."""
        context = {"command": command, **more.pop("context", {})}
        return self.site.file(self.name, title, assignee_id=agent_id, status="in_progress", context=context, **more)

    def worktree(self, task_id: str) -> Answer:
        found: Answer = self.site.people.rest("GET", f"/tasks/{task_id}/worktree")["worktree"]
        return found

    def ask(self, task_id: str, what: str, **how: Any) -> str:
        asked: Answer = self.site.people.rest("POST", f"/tasks/{task_id}/worktree/{what}", how)
        return str(asked["job_id"])

    def answer(self, job_id: str) -> Answer:
        def over() -> Answer | None:
            found: Answer = self.site.people.rest("GET", f"/worktree-jobs/{job_id}", params={"wait_seconds": 1})[
                "worktree_job"
            ]
            return found if found["finished_at"] else None

        return self.site.until(f"{job_id} is answered", over)

    def done(self, task_id: str, what: str, **how: Any) -> Answer:
        """The answer of a worktree job that must succeed."""
        job = self.answer(self.ask(task_id, what, **how))
        assert job["done"], job
        found: Answer = job["answer"]
        return found


def test_the_next_launch_of_a_task_finds_what_the_one_that_was_killed_left_uncommitted(site: Site) -> None:
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    site.coordinator()
    gate = site.gate()
    task = repository.order(
        "ann", "Go on", f"if [ -e left ]; then cp left found; else echo half > left; echo at work; {gate}; fi"
    )
    launch = site.until_printed(task, "at work")
    victim = site.agent_of(launch)
    assert victim is not None
    victim.kill()
    site.until_status(task, "completed")
    site.until_idle()
    assert repository.git("show", f"toryo/{task}:found") == "half"
    assert len(site.history.of("worktree.made")) == 1


def test_parts_build_on_one_another_their_manager_sees_all_and_one_merge_brings_it_to_main(site: Site) -> None:
    repository = SiteRepository(site, "house")
    parts = [
        {"id": "mix", "title": "Mix", "context": {"command": "echo mortar > mortar"}},
        {
            "id": "lay",
            "title": "Lay",
            "depends_on": ["mix"],
            "context": {"command": "sed s/mortar/wall/ mortar > wall", "outputs": ["wall"]},
        },
        {"id": "sow", "title": "Sow", "context": {"command": "ls > before-sowing; echo grass > lawn"}},
    ]
    site.lead("lead", "house", plans=[{"match": "Build", "subtasks": parts}])
    site.hire("mason", "house", reports_to="lead")
    site.hire("gardener", "house", reports_to="lead")
    site.coordinator()
    main = site.file(
        "house",
        "Build",
        assignee_id="lead",
        status="in_progress",
        acceptance=[{"file": "wall"}, {"command": "grep -q grass lawn && grep -q wall wall"}],
    )
    site.until_status(main, "completed")
    site.until_idle()
    assert repository.files() == {"a": "one\n"}
    tasks = {title: task["task_id"] for title, task in site.tasks("house").items()}
    assert repository.git("show", f"toryo/{main}:wall") == "wall"
    order = [each["task_id"] for each in repository.done(main, "merge")["merged"]]
    assert order.index(tasks["Mix"]) < order.index(tasks["Lay"])
    assert order[-1] == main
    assert sorted(order) == sorted(tasks.values())
    assert set(repository.files()) == {"a", "mortar", "wall", "lawn", "before-sowing"}
    assert repository.branches() == ["main"]


def test_a_conflict_is_told_changes_nothing_and_is_merged_once_it_is_resolved_as_told(site: Site) -> None:
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    site.hire("ben", "house")
    site.coordinator()
    gate, bell = site.gate(), site.bell()
    command = f"echo $AGENT_ID > a; echo $AGENT_ID > {bell}; {gate}"
    ann, ben = (repository.order(each, each, command) for each in ("ann", "ben"))
    bell.rung(2)
    gate.open()
    site.until_status(ann, "completed")
    site.until_status(ben, "completed")
    site.until_idle()
    repository.done(ann, "merge")
    before = repository.git("rev-parse", "main", f"toryo/{ben}")
    job = repository.answer(repository.ask(ben, "merge"))
    assert job["done"] is False
    assert (job["answer"]["conflict"], job["answer"]["merged"]) == (["a"], [])
    assert "Merge main into" in job["answer"]["trouble"]
    assert repository.git("rev-parse", "main", f"toryo/{ben}") == before
    assert repository.files() == {"a": "ann\n"}
    assert repository.git("status", "--porcelain") == ""
    found = repository.worktree(ben)
    assert (found["state"], found["trouble"]) == ("open", job["answer"]["trouble"])

    there = Path(found["path"])
    repository.git("merge", "--quiet", "-X", "theirs", "main", at=there)
    repository.commit(at=there, a="ann and ben\n")
    repository.done(ben, "merge")
    assert repository.files() == {"a": "ann and ben\n"}
    assert repository.worktree(ben)["trouble"] is None


def test_discarded_work_is_gone_from_the_disk_and_comes_back_as_told(site: Site) -> None:
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    site.coordinator()
    task = repository.order("ann", "Try", "echo bad > idea")
    site.until_status(task, "completed")
    site.until_idle()
    path = Path(repository.worktree(task)["path"])
    assert path.is_dir()
    told = repository.done(task, "discard")
    assert not path.exists()
    assert repository.branches() == ["main"]
    assert repository.worktree(task)["state"] == "discarded"
    command = told["message"][told["message"].index("git branch") :]
    repository.git(*command.split()[1:])
    assert repository.git("show", f"toryo/{task}:idea") == "bad"


def test_acceptance_checks_and_promised_outputs_are_looked_for_in_the_worktree(site: Site) -> None:
    """A file of the right name in the project's own directory proves nothing."""
    repository = SiteRepository(site, "house")
    (repository.path / "outside").write_text("not committed\n")
    site.hire("ann", "house")
    site.coordinator()
    good = repository.order(
        "ann", "Good", "echo in > inside", context={"outputs": ["inside"]}, acceptance=[{"file": "inside"}]
    )
    site.until_status(good, "completed")
    bad = repository.order("ann", "Bad", "true", context={"outputs": ["outside"]})
    site.until_status(bad, "failed")
    unproven = repository.order("ann", "Unproven", "true", acceptance=[{"command": "test -e outside"}])
    site.until_status(unproven, "failed")
    site.until_idle()
    (passed,) = site.history.of("task.checks_passed")
    assert passed["task_id"] == good
    assert "did not create outside" in site.history.of("task.failed", task_id=bad)[0]["data"]["reason"]
    assert "test -e outside" in site.history.of("task.failed", task_id=unproven)[0]["data"]["reason"]


def test_where_the_project_is_no_repository_its_agent_says_so_and_what_to_do(site: Site) -> None:
    directory = site.project("plain", isolation="worktree")
    site.hire("ann", "plain")
    site.coordinator()
    task = site.file("plain", "Try", assignee_id="ann", status="in_progress", context={"command": "true"})
    launch = site.until("it has failed", lambda: [each for each in site.launches(task_id=task) if each["exit_error"]])
    assert launch[-1]["exit_error"] == "bad_worktree"
    words = site.people.rest("GET", f"/launches/{launch[-1]['launch_id']}/log")["text"]
    assert "isolation: worktree" in words
    assert str(directory) in words
    site.until("why says it", lambda: words.split(": ", 1)[1].strip() in _why(site, "ann") or None)
    site.move(task, "cancelled")


def test_a_set_up_that_fails_is_told_and_not_tried_again_and_again_and_goes_on_when_it_is_corrected(site: Site) -> None:
    repository = SiteRepository(site, "house", worktree_setup=["echo no network; exit 7"])
    site.hire("ann", "house")
    site.coordinator()
    task = repository.order("ann", "Try", "true")
    (launch,) = site.until(
        "it has failed", lambda: [each for each in site.launches(task_id=task) if each["exit_error"]]
    )
    assert launch["exit_error"] == "bad_setup"
    words = site.people.rest("GET", f"/launches/{launch['launch_id']}/log")["text"]
    assert "ended with exit code 7" in words
    site.until("why says it", lambda: "no network" in _why(site, "ann") or None)
    (need,) = site.people.rest("GET", "/needs-you")["items"]
    assert (need["kind"], "no network" in need["text"]) == ("agent_cannot_start", True)
    assert len(site.launches(task_id=task)) == 1
    assert site.people.rest("GET", f"/tasks/{task}")["task"]["status"] == "in_progress"
    site.people.rest("PATCH", "/projects/house", {"settings": {"worktree_setup": ["true"]}})
    site.until_status(task, "completed")
    assert len(site.launches(task_id=task)) == 2


def _why(site: Site, agent_id: str) -> str:
    decisions = site.people.rest("GET", f"/agents/{agent_id}/why")["decisions"]
    return str(next(decision["explanation"] for decision in decisions if decision["purpose"] == "task"))


def test_a_process_that_outlives_its_killed_coordinator_has_its_work_kept_and_told_by_the_next(site: Site) -> None:
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    gate = site.gate()
    coordinator = site.coordinator()
    task = repository.order("ann", "Work", f"echo early > early; echo at work; {gate}; echo late > late")
    site.until_printed(task, "at work")
    coordinator.kill()
    coordinator.start().says("connected to")
    assert coordinator.said("adopted") == 1
    gate.open()
    site.until_status(task, "completed")
    site.until_idle()
    found = repository.worktree(task)
    assert (found["files_changed"], found["trouble"]) == (2, None)
    assert repository.git("show", f"toryo/{task}:late") == "late"
    assert [each["data"]["files_changed"] for each in site.history.of("worktree.changed")] == [2]


def test_a_merge_whose_coordinator_is_killed_in_the_middle_is_done_after_its_restart_and_once(site: Site) -> None:
    """A filter of the person's own holds git up while it writes the files."""
    repository = SiteRepository(site, "house")
    gate, bell, slow = site.gate(), site.bell(), site.directory / "slow"
    words = f"if [ -e '{slow}' ]; then echo merging > {bell}; {gate}; fi; cat"
    for name, run in (("smudge", words), ("clean", "cat")):
        repository.git(
            "config", "--file", str(Path(site.environment["HOME"]) / ".gitconfig"), f"filter.slow.{name}", run
        )
    (repository.path / ".gitattributes").write_text("*.txt filter=slow\n")
    repository.commit()
    site.hire("ann", "house")
    coordinator = site.coordinator()
    task = repository.order("ann", "Work", "echo new > new.txt")
    site.until_status(task, "completed")
    site.until_idle()
    slow.touch()
    job = repository.ask(task, "merge")
    bell.rung(1)
    coordinator.kill()
    slow.unlink()
    gate.open()
    site.until("git has ended what it was at", lambda: not (repository.path / ".git" / "index.lock").exists())
    coordinator.start().says("connected to")
    answer = repository.answer(job)
    assert answer["done"], answer
    assert repository.files()["new.txt"] == "new\n"
    assert len(repository.git("log", "--merges", "--format=%H", "main").split()) == 1
    assert repository.git("status", "--porcelain") == ""
    assert repository.branches() == ["main"]
    assert len(site.history.of("worktree.merged", task_id=task)) == 1


def test_what_is_not_in_a_worktree_is_said_in_the_first_lines_of_the_launchs_log(site: Site) -> None:
    repository = SiteRepository(site, "house")
    (repository.path / "a").write_text("not committed\n")
    site.hire("ann", "house")
    site.coordinator()
    task = repository.order("ann", "Look", "cat a")
    site.until_status(task, "completed")
    site.until_idle()
    (launch,) = site.launches(task_id=task)
    log = site.people.rest("GET", f"/launches/{launch['launch_id']}/log")["text"].splitlines()
    assert log[0].startswith(f"· {repository.path} has uncommitted changes (files: 1)")
    assert "one" in log
    assert "not committed" not in log


def test_a_task_that_solves_a_conflict_of_another_starts_from_its_branch_and_brings_both(site: Site) -> None:
    repository = SiteRepository(site, "house")
    site.hire("ann", "house")
    site.coordinator()
    fought = repository.order("ann", "Fought over", "echo ann > a")
    site.until_status(fought, "completed")
    site.until_idle()
    repository.commit(a="person\n")
    assert repository.answer(repository.ask(fought, "merge"))["done"] is False
    solve = "git merge --quiet main || true; echo both > a; git add a; git commit --quiet --no-edit -m Solved"
    solved = repository.order("ann", "Solve it", solve, dependencies=[fought])
    site.until_status(solved, "completed")
    site.until_idle()
    assert repository.git("log", "-1", "--format=%an %s", f"toryo/{solved}") == "ann Solved"
    repository.done(solved, "merge")
    assert repository.files()["a"] == "both\n"
    repository.done(fought, "merge")
    assert repository.branches() == ["main"]


def test_what_a_project_requires_must_pass_before_work_counts_and_the_evidence_stays(site: Site) -> None:
    """A failing test is fixed, a flaky one is run again and called flaky, and a forbidden change never completes."""
    repository = SiteRepository(site, "house")
    repository.commit(tests="grep -q fixed result\n", Makefile="all:\n")
    flaky = site.signals / "flaky-once"
    begun = "test ! -e result"  # as it is tried before any work
    required = [
        {"command": "sh tests"},
        {"command": f"{begun} || test -e {flaky} || {{ touch {flaky}; echo not this time; exit 1; }}", "retries": 2},
        {"diff": {"max_files": 2, "forbidden_paths": ["Makefile"], "forbid_secrets": True}},
    ]
    site.people.rest("PATCH", "/projects/house", {"settings": {"required_checks": required}})
    for each in ("ann", "ben"):
        site.hire(each, "house")
    site.coordinator()

    good = repository.order("ann", "Mend", "if [ -e result ]; then echo fixed > result; else echo broken > result; fi")
    site.until_status(good, "completed")
    shown = site.people.rest("GET", f"/tasks/{good}")["task"]
    assert [each["outcome"] for each in shown["check_results"]] == ["passed", "passed", "passed"]
    (traced,) = site.people.rest("GET", f"/traces/{good}")["tasks"]
    first, second = traced["checks"]
    assert [each["outcome"] for each in first["evidence"]] == ["failed", "flaky", "passed"]
    assert first["evidence"][1]["runs"] == 2
    assert second["passed"]

    bad = repository.order("ben", "Break", "echo fixed > result; echo 'all: rm' > Makefile")
    site.until_status(bad, "failed")
    site.until_idle()
    shown = site.people.rest("GET", f"/tasks/{bad}")["task"]
    assert [each["outcome"] for each in shown["check_results"]] == ["passed", "passed", "failed"]
    assert "Makefile may not be changed (Makefile)." in shown["check_failures"][0]["message"]
    assert shown["error"].startswith("The command succeeded, but its acceptance checks failed: ")
    assert "may not be changed" not in shown["error"], "what it found is said once, by the evidence"
    assert repository.files()["Makefile"] == "all:\n"
    repository.done(good, "merge")
    assert repository.files()["result"] == "fixed\n"


def test_what_a_check_leaves_in_a_worktree_is_evidence_that_a_browser_can_only_show_or_save(site: Site) -> None:
    """Also of a run that failed; and what the agent links to is not collected."""
    repository = SiteRepository(site, "house")
    (repository.path.parent / "passwords.png").write_bytes(b"hunter2")
    make = (
        "mkdir -p shots; printf '\\211PNG\\r\\n\\032\\n' > shots/a.png; echo '<script>' > report.html; "
        f"ln -sf {repository.path.parent}/passwords.png shots/stolen.png; [ $(grep -c . work) -gt 1 ]"
    )
    repository.commit(check=make)
    required = [{"command": "sh check", "artifacts": ["shots/*.png", "report.html", "*.gif"]}]
    site.people.rest("PATCH", "/projects/house", {"settings": {"required_checks": required}})
    site.hire("ann", "house")
    site.coordinator()
    task = repository.order("ann", "Mend", "echo . >> work")
    site.until_status(task, "completed")
    (traced,) = site.people.rest("GET", f"/traces/{task}")["tasks"]
    runs = [each["evidence"][0] for each in traced["checks"]]
    assert [each["outcome"] for each in runs] == ["failed", "passed"]
    for each in runs:
        assert [file["name"] for file in each["artifacts"]] == ["report.html", "shots/a.png"]
        assert each["left_out"][0].startswith("shots/stolen.png is left out.")
        assert each["left_out"][1:] == ["No file matches *.gif."]
    (shown,) = site.people.rest("GET", f"/tasks/{task}")["task"]["check_results"]
    assert shown == runs[-1]
    listed = site.people.rest("GET", f"/tasks/{task}/artifacts")["artifacts"]
    assert [each["name"] for each in listed] == ["report.html", "shots/a.png"] * 2
    headers = {"Authorization": f"Bearer {site.people.token}"}
    page, picture = (
        httpx.get(f"{site.url}/api/v1/tasks/{task}/artifacts/{each['artifact_id']}", headers=headers)
        for each in shown["artifacts"]
    )
    assert (page.text, picture.content) == ("<script>\n", b"\x89PNG\r\n\x1a\n")
    assert (page.headers["content-type"], picture.headers["content-type"]) == (
        "application/octet-stream",
        "image/png",
    )
    assert page.headers["content-disposition"].startswith("attachment; ")
    assert picture.headers["content-disposition"].startswith("inline; ")
    for each in (page, picture):
        assert each.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in each.headers["content-security-policy"]
        assert each.headers["cache-control"] == "no-store"
    nobody = httpx.get(f"{site.url}/api/v1/tasks/{task}/artifacts/{shown['artifacts'][0]['artifact_id']}")
    assert nobody.status_code == 401


def test_a_task_is_held_until_the_work_on_its_files_is_merged_and_starts_from_it(site: Site) -> None:
    """The first one has said nothing of what it changes: its Coordinator sees it."""
    repository = SiteRepository(site, "house", conflict_policy="hold")
    gate = site.gate()
    for each in ("ann", "ben"):
        site.hire(each, "house")
    site.coordinator()
    first = repository.order("ann", "Models", f"mkdir app; echo one > app/models.py; echo begun; {gate}")
    site.until_printed(first, "begun")
    second = site.file(
        "house", "Views", assignee_id="ben", context={"command": "cp app/models.py seen"}, touches=["app/"]
    )

    def forecast() -> Answer | None:
        found = site.people.rest("GET", f"/tasks/{second}")["task"]["may_conflict_with"]
        return found[0] if found else None

    met = site.until("the file is known that both would change", forecast)
    assert (met["task_id"], met["paths"], met["holds"]) == (first, ["app/models.py"], True)
    site.people.rest("POST", f"/tasks/{second}/move", {"status": "in_progress"})

    def reason() -> str:
        decisions = site.people.rest("GET", "/agents/ben/why")["decisions"]
        return str(next(each["reason"] for each in decisions if each["purpose"] == "task"))

    assert reason() == "may_conflict"
    gate.open()
    site.until_status(first, "completed")
    site.until("the finished work holds it back", lambda: reason() == "waiting_for_merge")
    assert not [each for each in site.history.of("launch.ordered") if each["data"]["task_id"] == second]
    site.until_idle()
    repository.done(first, "merge")
    site.until_status(second, "completed")
    site.until_idle()
    assert repository.git("show", f"toryo/{second}:seen") == "one"
