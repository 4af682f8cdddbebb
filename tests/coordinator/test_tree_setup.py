"""How a new tree is made ready, with real git and real commands: when the set-up runs, what of it is kept, what is
copied, and what is said where it fails.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_queue_merges import batch
from tests.coordinator.test_queue_merges import run as run_queue
from tests.coordinator.test_task_worktrees import PROJECT
from tests.coordinator.test_worktrees import first, make, nobody, place, repository, worked
from tests.repositories import Repository
from tests.sandboxes import sandboxed
from toryo import sandbox_signs
from toryo.artifact_limits import LARGEST
from toryo.coordinator import acceptance_checks, task_worktrees, tree_setup, worktrees
from toryo.coordinator.acceptance_checks import Evidence
from toryo.coordinator.config import Config
from toryo.coordinator.jobs import CHANGED_MEANWHILE, Jobs
from toryo.coordinator.orders import CheckOrder, Launch, WorktreeJob
from toryo.coordinator.process_start import Starter
from toryo.coordinator.provider import BadSetup
from toryo.coordinator.providers import BUILT_IN
from toryo.coordinator.sandbox import Mode, Sandbox, Walled
from toryo.coordinator.tree_setup import Setup, SetupFailed
from toryo.coordinator.workspaces import Workspaces
from toryo.coordinator.worktrees import Trouble, Worktree, clean_checkouts
from toryo.coordinator.worktrees.combining import PLACES
from toryo.coordinator.worktrees.launch_repositories import seen_of
from toryo.coordinator.worktrees.paths import check_place
from toryo.failures import NATURES, Failure

__all__ = ["first", "nobody", "place", "repository", "sandboxed"]

INSTALL = "mkdir -p installed && echo once >> installed/times && echo 'exit 0' > installed/tool"
CHECK = "sh installed/tool && cat installed/times"

Checked = Callable[..., str]


def starter(place: Path, mode: Mode = Mode.NONE) -> Starter:
    asked = Sandbox(mode, hidden=[place.parent / "data"], inherited=os.environ)
    spaces = Workspaces(place.parent / "data")
    (place.parent / "data").mkdir(exist_ok=True)
    return Starter(Config(), BUILT_IN, "http://x", "m", place.parent, spaces, place, dict(os.environ), sandbox=asked)


def evidence(
    repository: Repository,
    place: Path,
    worktree: Worktree,
    check: str | dict[str, Any],
    setup: Any,
    mode: Mode = Mode.NONE,
    **more: Any,
) -> Evidence:
    given: list[dict[str, Any]] = [{"command": check} if isinstance(check, str) else check]
    return evidence_of_all(repository, place, worktree, given, setup, mode, **more)[0]


def evidence_of_all(
    repository: Repository,
    place: Path,
    worktree: Worktree,
    checks: list[dict[str, Any]],
    setup: Any = None,
    mode: Mode = Mode.NONE,
    required: int = 0,
    **more: Any,
) -> list[Evidence]:
    order = CheckOrder(
        "chk_1",
        str(repository.path),
        tuple(checks),
        "ann",
        PROJECT,
        ai_type="claude",
        worktree=str(worktree.path),
        worktree_task_id=worktree.name,
        worktree_path=str(worktree.path),
        setup=setup,
        provider_options=more,
        required=required,
    )
    jobs = Jobs(Config(), cast("Any", None), starter(place, mode), cast("Any", None))
    return asyncio.run(jobs._checked(order))


@pytest.fixture
def worktree(repository: Repository, place: Path) -> Worktree:
    repository.commit(__gitignore="installed/\n*.env\nlocal/\nlinked/\n", package__json="{}\n")
    return make(repository, place / PROJECT)


@pytest.fixture
def check(repository: Repository, place: Path, worktree: Worktree) -> Checked:
    """What is found by a check after this set-up: its output if it passed."""

    def checked(command: str = CHECK, setup: str = INSTALL, *copies: str, mode: Mode = Mode.NONE, **more: Any) -> str:
        given = {"commands": [setup] if setup else [], "copies": list(copies)}
        found = evidence(repository, place, worktree, command, given, mode, **more)
        return found.output if found.outcome == "passed" else f"{found.outcome}: {found.output}"

    return checked


# --- checks -----------------------------------------------------------------------------------------------------------


def test_a_check_that_needs_what_is_installed_passes_with_the_set_up_and_says_why_without(check: Checked) -> None:
    assert "exit code" in check(setup="")
    assert check() == "once"
    check("echo 'exit 1' > installed/tool")
    assert check() == "once", "what a check has changed is set up again"


@pytest.mark.deep
def test_the_set_up_runs_again_only_where_what_is_installed_may_have_changed(check: Checked, worktree) -> None:
    assert [check(), check()] == ["once", "once"]
    (worktree.path / "a").write_text("two\n")
    first_run = check_place(worktree.path) / "installed" / "tool"
    stood = first_run.stat().st_ino, first_run.stat().st_ctime_ns
    assert check("cat a") == "two"
    assert (first_run.stat().st_ino, first_run.stat().st_ctime_ns) == stood
    for change in (
        lambda: (worktree.path / "package.json").write_text("{ }\n"),
        lambda: (worktree.path / "uv.lock").write_text("x\n"),
    ):
        before = first_run.stat().st_ctime_ns
        change()
        assert check() == "once", "everything of the earlier set-up is gone"
        assert first_run.stat().st_ctime_ns != before
    assert check(setup=f"{INSTALL}; touch installed/other") == "once"
    assert check("ls installed", setup=f"{INSTALL}; touch installed/other") == "other\ntimes\ntool"


@pytest.mark.deep
@pytest.mark.parametrize(
    "evil",
    [
        "echo 'exit 1' > installed/tool",
        "rm installed/tool; echo 'exit 1' > installed/tool",
        "cp -p installed/tool t; echo evil > installed/tool; touch -r t installed/tool",
        "mv installed other; mkdir installed; cp -p other/* installed",
        "mv installed other; ln -s other installed",
        "rm -r installed; ln -s /tmp installed",
        "chmod 0 installed",
        "echo x > installed/new; mkdir -p deep/empty; ln -s /etc/passwd link; echo '*' > installed/.gitignore",
        "mkdir -p .git/x installed/.git 2>/dev/null; mkdir shut; touch shut/x; chmod 0 shut",
        "rm -f a; mkdir a; touch a/x",
    ],
)
def test_what_a_check_leaves_is_not_there_for_the_next_one(check: Checked, worktree: Worktree, evil: str) -> None:
    listed = f"{CHECK}; cat installed/tool; find . -path ./.git -prune -o -print | sort; cat a"
    before = check(listed)
    check(f"{evil}; true")
    assert check(listed) == before
    check(f"{evil}; true")
    (worktree.path / "b").write_text("more\n")
    assert check(listed) == before


LIES = "echo honest > work; echo made > made; echo 'exit 0' > installed/tool"


@pytest.mark.deep
def test_no_command_passes_by_what_another_one_or_its_own_earlier_run_has_changed(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    (worktree.path / "work").write_text("a lie\n")
    (worktree.path / "lies.sh").write_text(f"{LIES}\n")
    setup = {"commands": ["mkdir -p installed; echo 'exit 1' > installed/tool"], "copies": []}
    checks: list[dict[str, Any]] = [
        {"command": "sh lies.sh; sleep 2"},
        {"command": "sleep 1; grep honest work"},
        {"command": "sleep 1; sh installed/tool"},
        {"command": "grep honest work || { sh lies.sh; exit 1; }", "retries": 1},
        {"file": "made"},
    ]
    ended = evidence_of_all(repository, place, worktree, checks, setup)
    assert [each.outcome for each in ended] == ["passed", "failed", "failed", "failed", "failed"]
    assert [each.runs for each in ended] == [1, 1, 1, 2, 1]
    assert "made" in ended[4].check


@pytest.mark.deep
def test_what_passes_in_several_commands_is_what_is_noted_as_checked(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    (worktree.path / "work").write_text("honest\n")
    checks = [{"command": "grep honest work; echo x >> work"}, {"command": "test $(wc -l < work) = 1"}]
    assert [each.outcome for each in evidence_of_all(repository, place, worktree, checks)] == ["passed", "passed"]
    assert clean_checkouts.changed_since(worktree) == ("work",), "it has passed, and is not committed yet"
    assert task_worktrees.keep(worktree, Launch("lau_1", "ann"))["trouble"] is None
    assert clean_checkouts.changed_since(worktree) is None


@pytest.mark.deep
def test_files_that_are_changed_between_two_commands_pass_nothing(
    repository: Repository, place: Path, worktree: Worktree
) -> None:
    checks = [{"command": f"echo more > {worktree.path}/work"}, {"command": "true"}]
    ended = evidence_of_all(repository, place, worktree, checks)
    assert [each.outcome for each in ended] == ["passed", "failed"]
    assert ended[1].output == CHANGED_MEANWHILE


@pytest.mark.deep
def test_files_that_an_agent_changes_after_its_checks_have_passed_are_told_when_it_ends(
    check: Checked, worktree: Worktree
) -> None:
    def told() -> str:
        found: str | None = task_worktrees.keep(worktree, Launch("lau_1", "ann"))["trouble"]
        return found or ""

    (worktree.path / "work").write_text("good\n")
    assert "failed" in check("grep bad work", "")
    assert told() == "", "nothing has passed"
    assert "failed" not in check("grep good work", "")
    assert told() == "", "what has passed is what is kept, committed since or not"
    (worktree.path / "work").write_text("good and more\n")
    assert told() == task_worktrees.CHANGED_LATE
    assert "failed" not in check("grep more work", "")
    assert told() == ""
    (worktree.path / "work").write_text("bad\n")
    assert "failed" in check("grep good work", "")
    assert told() == "", "its checks have failed since: nobody takes it for checked"
    assert "failed" not in check("grep bad work", "")
    (worktree.path / "work").write_text("more work, in another launch\n")
    task_worktrees.make(task_worktrees.Place(worktree.name), PROJECT, worktree.repository, worktree.path.parents[1])
    assert told() == ""


def test_an_ignored_file_that_a_check_has_verified_is_kept_with_its_result(repository, place, worktree) -> None:
    (worktree.path / "local" / "deep").mkdir(parents=True)
    for name in ("report.env", "local/a", "local/deep/b"):
        (worktree.path / name).write_text(f"{name}\n")
    for check, names in (("report.env", ["report.env"]), ("./local/", ["local/a", "local/deep/b"]), ("a", [])):
        found = evidence(repository, place, worktree, {"file": check}, None)
        assert found.outcome == "passed"
        assert [each.name for each in found.files] == names
        assert found.left_out == ()
    assert found.files == ()
    [kept] = evidence(repository, place, worktree, {"file": "report.env"}, None).files
    assert kept.content == b"report.env\n"
    worktrees.remove(worktree)
    assert not worktree.path.exists()


def test_a_verified_file_that_cannot_be_kept_is_told_and_its_worktree_is_not_removed(
    repository, place, worktree, tmp_path
) -> None:
    large = worktree.path / "report.env"
    large.write_bytes(b"x" * (LARGEST + 1))
    found = evidence(repository, place, worktree, {"file": "report.env"}, None)
    assert (found.outcome, found.files) == ("passed", ())
    assert any("report.env is left out" in each for each in found.left_out)
    assert found.left_out[-1] == f"What is not kept is only in {worktree.path}."
    with pytest.raises(Trouble, match=r"A check has verified report\.env"):
        worktrees.remove(worktree)
    large.rename(tmp_path / "mine")
    worktrees.remove(worktree)
    assert not worktree.path.exists()


@pytest.mark.deep
def test_what_has_changed_since_its_checks_passed_is_merged_only_where_a_person_says_so(
    check: Checked, worktree: Worktree
) -> None:
    def merge(**options: Any) -> dict[str, Any]:
        each = {"task_id": worktree.name, "path": str(worktree.path), "base": worktree.base_commit, "into": "main"}
        found = WorktreeJob(
            "job_1",
            "merge",
            worktree.name,
            PROJECT,
            str(worktree.path),
            working_directory=str(worktree.repository),
            asked_by="owner",
            options={"order": [each], **options},
        )
        return task_worktrees.run(found, worktree.path.parents[1])

    (worktree.path / "work").write_text("good\n")
    assert "failed" not in check("grep good work", "")
    (worktree.path / "work").write_text("good and more\n")
    (worktree.path / "extra").write_text("new\n")
    told = merge()
    assert "has changed since its checks passed (extra, work)" in told["trouble"]
    assert f"toryo task merge {worktree.name} --anyway" in told["trouble"]
    assert told["answer"] == {"anyway": True}
    assert (worktree.path / "extra").exists(), "nothing was removed"
    assert "failed" not in check("cat extra", "")
    (worktree.path / "extra").write_text("newer\n")
    assert "(extra)" in merge()["trouble"]
    assert merge(anyway=True)["done"]


def test_what_the_set_up_changes_of_the_commit_is_not_checked(check: Checked) -> None:
    setup = f"{INSTALL}; echo changed > a; rm b; echo more > made"
    assert [check("cat a; wc -l < b; cat made", setup) for _ in range(2)] == ["one\n8\nmore"] * 2


@pytest.mark.parametrize("undone", ["rewritten", "removed"])
def test_what_the_set_up_made_of_a_change_is_gone_with_that_change(
    check: Checked, repository: Repository, worktree: Worktree, undone: str
) -> None:
    setup = f"{INSTALL}; cat prepare/* | sh"
    (worktree.path / "prepare").mkdir()
    (worktree.path / "prepare" / "evil").write_text("echo evil > installed/tool; echo evil >> installed/times\n")
    assert check("cat installed/times", setup) == "once\nevil"
    (worktree.path / "a").write_text("more\n")
    assert check("cat installed/times", setup) == "once\nevil", "it is still part of the work"
    if undone == "removed":
        (worktree.path / "prepare" / "evil").unlink()
    else:
        (worktree.path / "prepare" / "evil").write_text("true\n")
    assert check(setup=setup) == "once"


def test_a_failed_set_up_is_told_as_itself_and_runs_again(check: Checked, worktree: Worktree) -> None:
    said = check(setup=f"{INSTALL}; echo no network; exit 3")
    assert "ended with exit code 3." in said.splitlines()[0]
    assert said.startswith(f"failed: The set-up command `{INSTALL}; echo no network; exit 3`")
    assert said.endswith("no network")
    assert check(setup=f"{INSTALL}; test -e ../fixed") != "once"
    (check_place(worktree.path).parent / "fixed").touch()
    assert check(setup=f"{INSTALL}; test -e ../fixed") == "once"
    assert "cannot be run" not in check(setup="kill -9 $$")


def test_where_no_command_is_checked_nothing_is_set_up(repository, place, worktree) -> None:
    jobs = Jobs(Config(), cast("Any", None), starter(place), cast("Any", None))
    order = CheckOrder(
        "chk_1",
        str(repository.path),
        ({"file": "a"},),
        "ann",
        PROJECT,
        worktree=str(worktree.path),
        worktree_task_id="t1",
        worktree_path=str(worktree.path),
        setup={"commands": ["exit 1"]},
    )
    assert [each.outcome for each in asyncio.run(jobs._checked(order))] == ["passed"]


def test_the_set_up_runs_in_the_sandbox_and_writes_there_for_who_only_reads(
    sandboxed: None, check: Checked, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("hush")
    setup = f"{INSTALL}; cat {tmp_path}/secret > installed/times; touch {repository.path}/evil {tmp_path}/evil; true"
    assert check(setup=setup, mode=Mode.BWRAP, permissions="read") == ""
    assert not (repository.path / "evil").exists()
    assert not (tmp_path / "evil").exists()
    assert check(mode=Mode.BWRAP, permissions="read") == "once"


def test_a_check_writes_in_its_clean_checkout_also_where_its_agent_only_reads(
    sandboxed: None, repository: Repository, place: Path, worktree: Worktree
) -> None:
    """A manager's task is checked like all others: tests have caches, and builds make files."""
    command = f"echo x > made && ! touch {repository.path}/evil && ! touch {worktree.path}/evil"
    found = evidence(repository, place, worktree, command, None, Mode.BWRAP, permissions="read")
    assert found.outcome == "passed", found.output
    assert not (repository.path / "evil").exists()
    assert not (worktree.path / "made").exists()


def test_a_set_up_that_fails_at_a_wall_of_the_sandbox_says_so_with_the_setting(sandboxed: None, check: Checked) -> None:
    assert check(setup="touch /usr/made", mode=Mode.BWRAP).endswith(f"\n{sandbox_signs.MAYBE}")
    assert sandbox_signs.MAYBE not in check(setup="touch /none/made", mode=Mode.NONE)


def test_in_the_sandbox_an_agent_does_not_write_what_was_prepared(
    sandboxed: None, check: Checked, repository, place, worktree
) -> None:
    assert check(mode=Mode.BWRAP) == "once"
    order = CheckOrder("chk_1", str(repository.path), (), "ann", PROJECT, ai_type="claude")
    walled = starter(place, Mode.BWRAP).check_walled(order, worktree.path)
    for target in (check_place(worktree.path) / "installed" / "tool", seen_of(check_place(worktree.path)) / "x"):
        ended = asyncio.run(acceptance_checks.execute(f"echo evil > {target}", 30, worktree.path, walled))
        assert ended.why
    assert check(f"cat installed/tool; {CHECK}", mode=Mode.BWRAP) == "exit 0\nonce"


# --- what is copied ---------------------------------------------------------------------------------------------------


def copied(repository: Repository, target: Path, *patterns: str) -> list[str]:
    target.mkdir(exist_ok=True)
    tree_setup.copy(Setup((), patterns), repository.path, target)
    return sorted(str(each.relative_to(target)) for each in target.rglob("*") if not each.is_dir())


def test_ignored_files_are_copied_and_nothing_else(repository, worktree, tmp_path) -> None:
    for name in (".test.env", "deep/x.env", "local/one/key", "local/other", "installed/x.env", "untracked", "a"):
        (repository.path / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.path / name).write_text("x")
    (repository.path / ".test.env").chmod(0o4640)
    assert copied(repository, tmp_path / "1", "*.env") == [".test.env", "deep/x.env"]
    assert (tmp_path / "1" / ".test.env").stat().st_mode & 0o7777 == 0o640
    assert copied(repository, tmp_path / "2", "local/*/key", "a", "untracked") == ["local/one/key"]
    assert copied(repository, tmp_path / "3", "local/", "/.test.env") == [".test.env", "local/one/key", "local/other"]
    assert copied(repository, tmp_path / "4", "../*", "/etc/passwd", ".git/config") == []


def test_no_link_leads_a_copy_out_of_the_project_or_the_tree(repository, worktree, tmp_path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.env").write_text("hush")
    (repository.path / "link.env").symlink_to(outside / "secret.env")
    (repository.path / "linked").symlink_to(outside)
    (repository.path / "local").mkdir()
    (repository.path / "local" / "inner").symlink_to(outside)
    assert copied(repository, tmp_path / "1", "*.env", "linked/*", "linked", "local/**") == []
    (repository.path / "local" / "own.env").write_text("x")
    target = tmp_path / "2"
    target.mkdir()
    (target / "local").symlink_to(outside)
    with pytest.raises(OSError, match=r"local|directory|link"):
        copied(repository, target, "local/*.env")
    assert [each.name for each in outside.iterdir()] == ["secret.env"]


def test_a_copy_replaces_nothing_and_has_limits(repository, worktree, tmp_path, monkeypatch) -> None:
    for number in range(3):
        (repository.path / f"{number}.env").write_text("theirs")
    target = tmp_path / "1"
    target.mkdir()
    (target / "0.env").write_text("the work's")
    copied(repository, target, "*.env")
    assert [(target / f"{number}.env").read_text() for number in (0, 1)] == ["the work's", "theirs"]
    for name, most in (("MOST_FILES", 2), ("MOST_BYTES", 10), ("MOST_STEPS", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(tree_setup, name, most)
            with pytest.raises(SetupFailed, match="worktree_copy"):
                copied(repository, tmp_path / name, "*.env")


def test_a_check_sees_what_is_copied_and_a_change_of_it(check: Checked, repository: Repository, worktree) -> None:
    assert "failed" in check("cat my.env", "", "*.env")
    (repository.path / "my.env").write_text("one")
    assert check("cat my.env", "", "*.env") == "one"
    (repository.path / "my.env").write_text("other")
    assert check("cat my.env", "", "*.env") == "other"
    (worktree.path / "package.json").write_text("{ }\n")
    assert check("cat my.env; echo evil > my.env", "", "*.env") == "other"
    assert check("cat my.env", "", "*.env") == "other"


# --- an agent's worktree ----------------------------------------------------------------------------------------------


def launch(repository: Repository, *commands: str, copies: Any = ()) -> Launch:
    setup = {"commands": list(commands), "copies": list(copies)}
    workspace = {"isolation": "worktree", "name": "t1", "setup": setup}
    return Launch("lau_1", "ann", PROJECT, working_directory=str(repository.path), workspace=workspace)


def test_an_agents_worktree_is_set_up_once(repository, place, worktree) -> None:
    (repository.path / "my.env").write_text("x")
    order = launch(repository, INSTALL, copies=["*.env"])
    for _ in range(2):
        asyncio.run(starter(place).set_up(order, worktree))
    assert (worktree.path / "installed" / "times").read_text() == "once\n"
    assert (worktree.path / "my.env").read_text() == "x"
    assert worktrees.unkept(worktree) == "", "it is nothing of the agent's work"
    asyncio.run(starter(place).set_up(Launch("lau_2", "ann", workspace={"isolation": "worktree"}), worktree))


def test_a_worktree_that_cannot_be_set_up_is_no_fault_of_the_agent_and_is_tried_again(
    repository, place, worktree
) -> None:
    order = launch(repository, "test -e fixed.env || { echo no network; exit 7; }", INSTALL)
    with pytest.raises(BadSetup, match=r"(?s)The set-up command `test .*ended with exit code 7\..*no network") as found:
        asyncio.run(starter(place).set_up(order, worktree))
    assert found.value.failure is Failure.BAD_SETUP
    assert NATURES[Failure.BAD_SETUP].outside
    (worktree.path / "fixed.env").touch()
    asyncio.run(starter(place).set_up(order, worktree))
    assert (worktree.path / "installed" / "tool").exists()


# --- the merge queue --------------------------------------------------------------------------------------------------


def in_queue(
    repository: Repository, place: Path, monkeypatch: pytest.MonkeyPatch, setup: Any, *checks: str
) -> dict[str, Any]:
    def walled(_: Path, *, setup: bool = False) -> Any:
        return lambda argv: Walled(tuple(argv), {"PATH": os.environ["PATH"], "WRITES": str(setup)})

    monkeypatch.setattr("tests.coordinator.test_queue_merges.walled", walled)
    commands = [{"command": each} for each in checks or (CHECK,)]
    return run_queue(batch(repository, place, "t1", checks=commands, setup=setup), place)


def test_the_merge_queue_sets_up_the_result_that_it_checks(repository, place, monkeypatch) -> None:
    worked(repository, place / PROJECT, "t1", new="x\n")
    setup = {"commands": [f'test -f new && [ "$WRITES" = True ] && {INSTALL}']}
    answer = in_queue(repository, place, monkeypatch, setup)
    assert answer["queue"]["result"] == "merged", answer


@pytest.mark.deep
def test_in_the_merge_queue_no_command_passes_by_what_another_one_has_changed(repository, place, monkeypatch) -> None:
    worked(repository, place / PROJECT, "t1", work="a lie\n", lies="echo honest > work\n")
    answer = in_queue(
        repository, place, monkeypatch, None, "sh lies; sleep 2", "sleep 1; ! test -e work || grep honest work"
    )
    assert (answer["queue"]["result"], answer["merged"]) == ("failed", [])
    assert [each["outcome"] for each in answer["queue"]["evidence"]] == ["passed", "failed"]


@pytest.mark.parametrize(("command", "result"), [("! test -f new", "failed"), ("false", "target_broken")])
def test_a_set_up_that_fails_on_the_target_too_is_not_the_works_fault(
    repository, place, monkeypatch, command, result
) -> None:
    worked(repository, place / PROJECT, "t1", new="x\n")
    answer = in_queue(repository, place, monkeypatch, {"commands": [command]})
    assert (answer["queue"]["result"], answer["merged"]) == (result, [])
    said = f"The set-up command `{command}` ended with exit code 1."
    assert answer["queue"]["evidence"][0]["output"].startswith(said)
    assert (answer["trouble"] or "").startswith(said) == (result == "target_broken")
    assert not list((place / PLACES).glob("*"))


def test_an_order_of_an_older_server_has_no_set_up() -> None:
    assert not Setup.read(None)
    assert not Setup.read({"commands": None})
    assert Setup.read(json.loads('{"commands": ["x"], "copies": ["y"]}')) == Setup(("x",), ("y",))
