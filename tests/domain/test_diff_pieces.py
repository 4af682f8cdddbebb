"""The parts of a diff: each file has its own, whatever it is called and whatever stands in it."""

from __future__ import annotations

import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from toryo.coordinator.worktrees import merged_diff
from toryo.domain.diff_pieces import pieces_of


class Desk:
    """A repository whose diffs are those that a Coordinator makes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet", "--initial-branch=main")
        (path / "f").write_text("one\n")
        self.base = self.kept()

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=P", "-c", "user.email=p@example.org", *words]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=True).stdout

    def kept(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD").strip()

    def pieces(self) -> dict[str, str | None]:
        """What has changed since the base, by path."""
        head = self.kept()
        found = merged_diff(self.path, "work", head, self.base, head, 3)
        assert found is not None
        return {str(file["path"]): piece for file, piece in pieces_of(found.patch, map(asdict, found.files))}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("name", ["with space", 'say "no"', "é", "a\tb", "\u202egnp", "x b/y", "-- a", "\\"])
def test_a_file_has_its_own_part_whatever_it_is_called(desk: Desk, name: str) -> None:
    (desk.path / name).parent.mkdir(exist_ok=True)
    (desk.path / name).write_text("mine\n")
    (desk.path / "zz").write_text("other\n")
    found = desk.pieces()
    assert {path: (piece or "").split("\n")[-2] for path, piece in found.items()} == {name: "+mine", "zz": "+other"}


def test_lines_that_look_like_a_patch_stay_in_their_file(desk: Desk) -> None:
    text = "--- a/f\n+++ b/f\n\rdiff --git a/x b/x\n@@ -1 +1 @@\n\u2028diff --git a/y b/y\nlast\n"
    (desk.path / "new").write_bytes(text.encode())
    (piece,) = desk.pieces().values()
    assert piece is not None
    assert piece.partition(" @@\n")[2] == "".join(f"+{line}\n" for line in text.split("\n")[:-1])


def test_a_file_that_became_a_link_keeps_both_of_its_parts(desk: Desk) -> None:
    (desk.path / "f").unlink()
    (desk.path / "f").symlink_to("elsewhere")
    (piece,) = desk.pieces().values()
    assert piece is not None
    assert "-one" in piece
    assert "+elsewhere" in piece


def test_a_file_that_the_patch_does_not_reach_has_none() -> None:
    files = [{"path": "a"}, {"path": "b"}]
    (_, first), (_, second) = pieces_of("diff --git a/a b/a\n@@ -1 +1 @@\n-x\n+y\n", files)
    assert first is not None
    assert second is None
