"""A Git repository as the person uses it to whom it belongs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


class Repository:
    """A person's repository, used as the person does: with the plain program."""

    def __init__(self, path: Path, like: Path | None = None) -> None:
        self.path = path
        if like is not None:
            shutil.copytree(like, path)
        else:
            path.mkdir(parents=True)
            self.git("init", "--quiet", "--initial-branch=main", "--template=")

    def git(self, *words: str, at: Path | None = None, code: int | None = 0) -> str:
        person = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
        done = subprocess.run(
            ["git", *person, *words], cwd=at or self.path, capture_output=True, text=True, check=False
        )
        assert code is None or done.returncode == code, done.stderr
        return done.stdout.rstrip("\n")

    def commit(self, message: str = "more", at: Path | None = None, **files: str) -> str:
        for name, text in files.items():
            ((at or self.path) / name.replace("__", ".")).write_text(text)
        self.git("add", "--all", at=at)
        self.git("commit", "--quiet", "--no-verify", f"--message={message}", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def failing(self, command: str, where: Path, *, commits: str = "main") -> list[str]:
        """The commits of a first-parent history at which a command fails in a shell, each checked out in a directory of
        its own below `where`: the subject, and what was printed."""
        found = []
        for commit in self.git("rev-list", "--first-parent", commits).split():
            self.git("worktree", "add", "--quiet", "--detach", str(where / commit), commit)
            done = subprocess.run(
                ["/bin/sh", "-c", command], cwd=where / commit, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                found.append(f"{self.git('log', '-1', '--format=%s', commit)}: {done.stdout}{done.stderr}")
            self.git("worktree", "remove", "--force", str(where / commit))
        return found

    def state(self) -> tuple[str, ...]:
        """Everything that must not have changed where nothing was to happen."""
        everybodys = ("refs/heads", "refs/tags", "refs/remotes", "refs/stash")
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)", *everybodys)
        config = (self.path / ".git" / "config").read_text()
        return (refs, self.git("worktree", "list"), config, self.git("status", "--porcelain"), self.git("diff", "HEAD"))
