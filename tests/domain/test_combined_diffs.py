"""The combined diff of several tasks: who meets whom in a file, which hunk is whose, and the order of merging."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from toryo.coordinator.worktrees import merged_diff
from toryo.domain.combined_diffs import (
    Change,
    CombinedFile,
    Hunk,
    Overlap,
    Run,
    changes_of,
    combined,
    conflicts,
    merge_order,
)

TEN = "".join(f"line {number}\n" for number in range(1, 11))
NOBODY: Mapping[str, Collection[str]] = {}


class Desk:
    """A repository whose diffs are those that a Coordinator makes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet", "--initial-branch=main")
        self.put("f", TEN)
        self.base = self.kept()

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=P", "-c", "user.email=p@example.org", *words]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=True).stdout

    def put(self, name: str, text: str | bytes) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def kept(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        return self.git("rev-parse", "HEAD").strip()

    def task(self, task_id: str, context: int = 3, **files: str | bytes | None) -> list[Change]:
        """What a task changes that starts from the base: these files get these contents; None: the file goes."""
        self.git("checkout", "--quiet", "-B", task_id, self.base)
        for name, text in files.items():
            if text is None:
                (self.path / name).unlink()
            else:
                self.put(name, text)
        return self.changed(task_id, context)

    def changed(self, task_id: str, context: int = 3) -> list[Change]:
        head = self.kept()
        found = merged_diff(self.path, task_id, head, self.base, head, context)
        assert found is not None
        return list(changes_of(task_id, found.patch, map(asdict, found.files), self.base))

    def merges(self, one: str, other: str) -> bool:
        """What git itself says."""
        done = subprocess.run(
            ["git", "merge-tree", "--write-tree", one, other], cwd=self.path, capture_output=True, check=False
        )
        return done.returncode == 0


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def changed(*numbers: int, to: str = "new") -> str:
    return "".join(f"{to}\n" if number in numbers else f"line {number}\n" for number in range(1, 11))


def meets(files: list[CombinedFile]) -> list[tuple[str, Overlap, tuple[int, int] | None]]:
    return [(file.path, each.kind, each.lines) for file in files for each in file.meetings]


SAME_FILE: dict[str, tuple[str | None, str | None, Overlap]] = {
    "the same line": (changed(5, to="a"), changed(5, to="b"), Overlap.CONFLICT),
    "lines without one between them": (changed(4), changed(5), Overlap.CONFLICT),
    "lines with one between them": (changed(4), changed(6), Overlap.APART),
    "far from each other": (changed(1), changed(10), Overlap.APART),
    "the same change": (changed(5), changed(5), Overlap.SAME),
    "the same change and one elsewhere": (changed(5), changed(5, 9), Overlap.SAME),
    "a line and its removal": (changed(5), TEN.replace("line 5\n", ""), Overlap.CONFLICT),
    "lines put in at one place": ("a\n" + TEN, "b\n" + TEN, Overlap.CONFLICT),
    "lines put in at the end": (TEN + "a\n", TEN + "b\n", Overlap.CONFLICT),
    "lines put in at both ends": ("a\n" + TEN, TEN + "b\n", Overlap.APART),
    "a file that goes": (None, changed(5), Overlap.CONFLICT),
    "a file that goes twice": (None, None, Overlap.SAME),
    "no newline at the end, twice": (TEN.removesuffix("\n"), TEN[:-1] + "!", Overlap.CONFLICT),
    "other line ends": (TEN.replace("\n", "\r\n"), changed(5), Overlap.CONFLICT),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "kind"), SAME_FILE.values(), ids=SAME_FILE)
def test_two_tasks_in_one_file_meet_as_git_would_see_it(
    desk: Desk, one: str | None, other: str | None, kind: Overlap
) -> None:
    changes = [*desk.task("a", f=one), *desk.task("b", f=other)]
    ((path, found, _),) = meets(combined(changes, NOBODY))
    assert (path, found) == ("f", kind)
    assert desk.merges("a", "b") == (kind is not Overlap.CONFLICT)


def test_the_lines_in_which_two_tasks_meet_are_named(desk: Desk) -> None:
    changes = [*desk.task("a", f=changed(2, 3, 4, 9)), *desk.task("b", f=changed(4, 5, to="b"))]
    assert meets(combined(changes, NOBODY)) == [("f", Overlap.CONFLICT, (4, 4))]


def test_files_with_overlaps_come_first_and_the_worst_of_them_before_the_others(desk: Desk) -> None:
    desk.put("z", TEN)
    desk.put("y", TEN)
    desk.base = desk.kept()
    ones = desk.task("a", f=changed(1), z=changed(5), y=changed(5, to="a"), alone="x\n")
    others = desk.task("b", f="other\n" + TEN.replace("line 10\n", "b\n"), z=changed(8), y=changed(5, to="b"))
    files = combined([*ones, *others], NOBODY)
    assert [(each.path, each.overlap) for each in files] == [
        ("f", Overlap.CONFLICT),
        ("y", Overlap.CONFLICT),
        ("z", Overlap.APART),
        ("alone", None),
    ]


def test_a_hunk_that_two_tasks_have_stands_there_once_with_both(desk: Desk) -> None:
    changes = [*desk.task("a", 0, f=changed(2, 8)), *desk.task("b", 0, f=changed(2, 5))]
    (file,) = combined(changes, NOBODY)
    assert [each.tasks for each in file.hunks] == [("a", "b"), ("b",), ("a",)]
    assert file.hunks[1].text == "@@ -5 +5 @@ line 4\n-line 5\n+new\n"


def test_what_builds_on_other_work_does_not_conflict_with_it(desk: Desk) -> None:
    changes = [*desk.task("a", f=changed(5, to="a")), *desk.task("b", f=changed(5, to="b"))]
    files = combined(changes, {"b": {"a"}})
    assert meets(files) == [("f", Overlap.BUILDS_ON, (5, 5))]
    assert files[0].meetings[0].tasks == ("a", "b")
    assert conflicts(files) == {}


def test_a_renamed_file_meets_what_others_do_to_it_under_its_old_name_and_its_new_one(desk: Desk) -> None:
    renaming = desk.task("a", f=None, g=TEN)
    assert [each.old_path for each in renaming] == ["f"]
    editing, creating = desk.task("b", f=changed(5)), desk.task("c", g="mine\n")
    (file,) = combined([*renaming, *editing, *creating], NOBODY)
    found = {("".join(sorted(each.tasks)), each.kind) for each in file.meetings}
    assert found == {("ab", Overlap.APART), ("ac", Overlap.CONFLICT)}
    again = desk.task("d", f=None, h=TEN)
    assert meets(combined([*renaming, *again], NOBODY))[0][1] is Overlap.CONFLICT


def test_binary_files_that_differ_conflict_and_those_that_do_not_are_the_same(desk: Desk) -> None:
    one, other = desk.task("a", pic=b"\0one"), desk.task("b", pic=b"\0two")
    assert meets(combined([*one, *other], NOBODY))[0][1] is Overlap.CONFLICT
    assert meets(combined([*one, *desk.task("c", pic=b"\0one")], NOBODY))[0][1] is Overlap.SAME


@pytest.mark.parametrize("name", ["with space", 'say "no"', "é", "a\tb", "\u202egnp", "x b/y", "-- a", "\\"])
def test_files_are_found_whatever_they_are_called(desk: Desk, name: str) -> None:
    changes: list[Change] = []
    for task_id in ("a", "b"):
        desk.git("checkout", "--quiet", "-B", task_id, desk.base)
        desk.put(name, f"{task_id}\n")
        desk.put("zz", "1\n")
        changes.extend(desk.changed(task_id))
    (file, _) = combined(changes, NOBODY)
    assert (file.path, file.overlap, [each.tasks for each in file.hunks]) == (name, Overlap.CONFLICT, [("a",), ("b",)])


def test_a_file_cannot_hide_lines_by_looking_like_a_patch(desk: Desk) -> None:
    text = "--- a/f\n+++ b/f\n\rdiff --git a/x b/x\n@@ -1 +1 @@\n\u2028diff --git a/y b/y\nlast\n"
    (change,) = desk.task("a", new=text)
    assert [line for hunk in change.hunks or () for line in hunk.text.split("\n")[1:-1]] == [
        f"+{line}" for line in text.split("\n")[:-1]
    ]


def test_a_file_that_became_a_link_keeps_both_of_its_pieces(desk: Desk) -> None:
    desk.git("checkout", "--quiet", "-B", "a", desk.base)
    (desk.path / "f").unlink()
    (desk.path / "f").symlink_to("elsewhere")
    (change,) = desk.changed("a")
    assert (change.status, len(change.hunks or ()), change.cut) == ("type changed", 2, False)
    assert meets(combined([change, *desk.task("b", f=changed(5))], NOBODY))[0][1] is Overlap.CONFLICT


def test_where_a_patch_was_cut_nothing_is_claimed_about_the_rest(desk: Desk) -> None:
    (one,) = desk.task("a", f=changed(2))
    patch = "diff --git a/f b/f\n@@ -1,9 +1,9 @@\n line 1\n-line 2\n"
    file = {"path": "f", "status": "modified", "insertions": 2, "deletions": 2, "binary": False}
    (cut,) = changes_of("b", patch, [file], desk.base)
    (gone,) = changes_of("c", "", [file], desk.base)
    assert (cut.cut, gone.cut, one.cut) == (True, True, False)
    assert {each.kind for each in combined([one, cut, gone], NOBODY)[0].meetings} == {Overlap.UNKNOWN}


FILE = {"path": "f", "status": "modified", "insertions": 1, "deletions": 1, "binary": False}


def read(patch: str, **file: object) -> Change:
    (change,) = changes_of("a", patch, [{**FILE, **file}], "base")
    return change


def test_a_hunk_ends_with_as_many_lines_as_its_head_says() -> None:
    """What a mail says below a patch is no change."""
    whole = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n line 1\n-line 2\n+new\n"
    for below in ("-- \n2.43.0\n", " and more\n", "+more\n", ""):
        (hunk,) = read(whole + below).hunks or ()
        assert hunk.text == whole[whole.index("@@") :]
    (hunk,) = read(whole + "\\ No newline at end of file\n-more\n").hunks or ()
    assert hunk.text.endswith("+new\n\\ No newline at end of file\n")


@pytest.mark.parametrize(
    ("hunk", "runs"),
    [
        ("@@ -3 +3 @@\n-a\n+b\n", [(3, 4)]),
        ("@@ -3,0 +4 @@\n+b\n", [(4, 4)]),
        ("@@ -0,0 +1,2 @@\n+a\n+b\n", [(1, 1)]),
        ("@@ -3,2 +2,0 @@ def f():\n-a\n-b\n", [(3, 5)]),
        ("@@ -3,5 +3,4 @@\n x\n-a\n+b\n y\n z\n-c\n", [(4, 5), (7, 8)]),
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", [(1, 2)]),
        ("@@ -3,2 +3,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n", [(3, 4)]),
        ("@@ -3 +3 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n", [(3, 4), (9, 10)]),
        ("no head\n-a\n+b\n", []),
    ],
)
def test_the_lines_that_a_patch_replaces_are_counted_before_the_change(hunk: str, runs: list[tuple[int, int]]) -> None:
    found = read(f"diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}")
    assert [(each.start, each.end) for each in found.runs] == runs


def test_a_line_without_its_end_is_another_line() -> None:
    change = "@@ -1 +1 @@\n-a\n+b\n"
    whole, cut = (
        read(f"diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}")
        for hunk in (change, f"{change}\\ No newline at end of file\n")
    )
    assert whole.runs[0].text == "-a\n+b"
    assert cut.runs[0].text == "-a\n+b\n\\ No newline at end of file"


def one_of(task_id: str, *runs: Run, **facts: object) -> Change:
    """A change of whole runs; its patch is complete, and unlike any other of its kind."""
    hunks = tuple(Hunk(f"{task_id} {run}", (run,)) for run in runs)
    count = sum(line[:1] in ("-", "+") for run in runs for line in run.text.split("\n"))
    given = {
        "path": "f",
        "old_path": None,
        "status": "modified",
        "binary": False,
        "head": task_id,
        "base": "b",
        **facts,
    }
    return Change(**{"task_id": task_id, "insertions": count, "deletions": 0, "hunks": hunks, **given})  # type: ignore[arg-type]


def at(start: int, end: int, text: str = "-x") -> Run:
    return Run(start, end, text)


PAIRS: dict[str, tuple[Change, Change, Overlap, tuple[int, int] | None]] = {
    "the same lines": (one_of("a", at(3, 5)), one_of("b", at(3, 5, "-y")), Overlap.CONFLICT, (3, 4)),
    "the same in the same lines": (one_of("a", at(3, 5)), one_of("b", at(3, 5)), Overlap.SAME, (3, 4)),
    "lines side by side": (one_of("a", at(3, 5)), one_of("b", at(5, 7)), Overlap.CONFLICT, (5, 5)),
    "lines with one between them": (one_of("a", at(3, 5)), one_of("b", at(6, 7)), Overlap.APART, None),
    "lines within others": (one_of("a", at(2, 9)), one_of("b", at(4, 6)), Overlap.CONFLICT, (4, 5)),
    "several": (
        one_of("a", at(2, 3), at(10, 12), at(20, 21)),
        one_of("b", at(5, 6), at(11, 15), at(20, 25)),
        Overlap.CONFLICT,
        (11, 20),
    ),
    "some the same and some not": (
        one_of("a", at(2, 3), at(10, 12)),
        one_of("b", at(2, 3), at(10, 12, "-y")),
        Overlap.CONFLICT,
        (10, 11),
    ),
    "put in at one place": (one_of("a", at(4, 4, "+x")), one_of("b", at(4, 4, "+y")), Overlap.CONFLICT, (4, 4)),
    "put in at the top": (one_of("a", at(0, 0, "+x")), one_of("b", at(0, 0, "+y")), Overlap.CONFLICT, (1, 1)),
    "two modes": (one_of("a", head="mode 1"), one_of("b", head="mode 2"), Overlap.APART, None),
    "one patch": (one_of("a", head="x"), one_of("b", head="x"), Overlap.SAME, None),
    "two files that go": (
        one_of("a", at(1, 2), status="deleted"),
        one_of("b", at(1, 3), status="deleted"),
        Overlap.SAME,
        None,
    ),
    "one file that goes": (one_of("a", at(1, 2), status="deleted"), one_of("b", at(8, 9)), Overlap.CONFLICT, None),
    "a binary file": (one_of("a", binary=True), one_of("b", at(8, 9)), Overlap.CONFLICT, None),
    "one that was cut": (one_of("a", at(1, 2), insertions=2), one_of("b", at(1, 2)), Overlap.UNKNOWN, None),
    "two without a patch": (
        one_of("a", head="", hunks=None),
        one_of("b", head="", hunks=None),
        Overlap.UNKNOWN,
        None,
    ),
    "two new names": (
        one_of("a", path="g", old_path="f"),
        one_of("b", path="h", old_path="f"),
        Overlap.CONFLICT,
        None,
    ),
    "one new name": (one_of("a", path="g", old_path="f"), one_of("b", at(1, 2)), Overlap.APART, None),
    "two files of one new name": (
        one_of("a", path="g", old_path="f"),
        one_of("b", path="g", old_path="e"),
        Overlap.CONFLICT,
        None,
    ),
}
"""Two changes, how they meet, and in which lines."""


@pytest.mark.parametrize("pair", PAIRS)
def test_how_two_changes_meet_is_the_same_from_both_sides(pair: str) -> None:
    one, other, kind, lines = PAIRS[pair]
    for changes in ([one, other], [other, one]):
        assert [each[1:] for each in meets(combined(changes, NOBODY))] == [(kind, lines)]


def test_nonsense_of_a_coordinator_is_read_as_nothing() -> None:
    (change,) = changes_of("a", "no patch\n@@ -1 +1 @@\n", [{"path": None, "insertions": -3, "deletions": True}], "")
    (other,) = changes_of("a", "", [{"path": "f", "insertions": "3", "deletions": None}], "")
    assert (other.insertions, other.deletions) == (0, 0)
    assert (change.path, change.insertions, change.deletions, change.hunks) == ("", 0, 0, None)


def test_lines_are_only_an_estimate_where_tasks_started_from_different_commits(desk: Desk) -> None:
    one = desk.task("a", f=changed(5, to="a"))
    desk.git("checkout", "--quiet", "main")
    desk.put("other", "x\n")
    desk.base = desk.kept()
    ((meeting,),) = [each.meetings for each in combined([*one, *desk.task("b", f=changed(5, to="b"))], NOBODY)]
    assert (meeting.kind, meeting.exact) == (Overlap.CONFLICT, False)


def test_what_others_depend_on_is_merged_first_and_then_what_conflicts_with_the_fewest() -> None:
    against = {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
    assert merge_order(["a", "b", "c", "d"], NOBODY, against) == ["d", "b", "c", "a"]
    assert merge_order(["a", "b", "c"], {"b": {"a"}, "c": {"a", "b"}}, against) == ["a", "b", "c"]
    assert merge_order(["x", "y"], {"x": {"y"}, "y": {"x"}}, {}) == ["x", "y"]


@pytest.mark.deep
def test_a_diff_of_many_thousand_changes_is_compared_without_looking_at_every_pair() -> None:
    lines = [f"@@ -{at} +{at} @@\n-x\n+" for at in range(1, 40_000, 2)]
    file = {"path": "f", "status": "modified", "insertions": len(lines), "deletions": len(lines), "binary": False}
    changes = [
        change
        for task_id in ("a", "b")
        for change in changes_of(
            task_id, "diff --git a/f b/f\n" + "".join(f"{each}{task_id}\n" for each in lines), [file], "base"
        )
    ]
    assert meets(combined(changes, NOBODY)) == [("f", Overlap.CONFLICT, (1, 39_999))]
