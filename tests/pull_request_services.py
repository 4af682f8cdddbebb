"""GitHub and GitLab with their programs, as far as Toryo asks them: `gh` and `glab` on PATH, a bare repository as the
remote, and a file in which a test reads and changes what pull requests there are.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.environments import BECOMES_PYTHON
from tests.repositories import Repository

PROGRAM = """{begins}import json, os, pathlib, sys, time, urllib.parse

here = pathlib.Path(__file__).parent
state = here / "state.json"
facts = json.loads(state.read_text())
words = sys.argv[1:]
gitlab = os.path.basename(__file__) == "glab"
secrets = [name for name in os.environ if name.startswith("GIT_CONFIG_KEY") or name in ("GIT_DIR", "GIT_WORK_TREE")]
facts["calls"].append({{"words": words, "cwd": os.getcwd(), "git": secrets}})
state.write_text(json.dumps(facts))


def fail(code, words):
    print(words, file=sys.stderr)
    sys.exit(code)


if facts["trouble"]:
    fail(*facts["trouble"])
if words[:2] == ["auth", "status"]:
    sys.exit(0 if words[3] in facts["hosts"] else 1)
assert words[:2] == ["api", "--hostname"] and words[3] == "--method", words
host, method, path = words[2], words[4], words[-1]
url = urllib.parse.urlsplit(path)
asked = dict(urllib.parse.parse_qsl(url.query))


def head(branch):
    tip = os.popen("git --git-dir=" + facts["remote"] + " rev-parse refs/heads/" + branch).read().strip()
    return tip


def shown(each):
    each = dict(each, head=head(each["branch"]) or each["head"])
    merged = each["state"] == "merged"
    link = "https://" + host + "/shop/till/" + ("-/merge_requests/" if gitlab else "pull/") + str(each["number"])
    if facts["insecure"]:
        link = link.replace("https", "http")
    if gitlab:
        state = {{"open": "opened"}}.get(each["state"], each["state"])
        return {{"iid": each["number"], "web_url": link, "state": state, "sha": each["head"],
                 "merge_commit_sha": each["merged_commit"], "target_branch": each["base"],
                 "source_project_id": 8 if each.get("fork") else 7, "target_project_id": 7}}
    return {{"number": each["number"], "html_url": link, "state": "closed" if merged else each["state"],
             "merged_at": "2026-01-01T00:00:00Z" if merged else None, "head": {{"sha": each["head"]}},
             "base": {{"ref": each["base"]}}, "merge_commit_sha": each["merged_commit"]}}


collection = "projects/shop%2Ftill/merge_requests" if gitlab else "repos/shop/till/pulls"
if not url.path.startswith(collection):
    fail(1, "HTTP 404: Not Found")
if method == "POST":
    body = json.load(sys.stdin)
    branch = body["source_branch" if gitlab else "head"]
    if any(each["branch"] == branch and each["state"] == "open" and not each.get("fork") for each in facts["pulls"]):
        fail(1, "HTTP 422: A pull request already exists")
    each = {{"number": len(facts["pulls"]) + 1, "branch": branch, "base": body["target_branch" if gitlab else "base"],
             "title": body["title"], "body": body["description" if gitlab else "body"], "state": "open",
             "head": head(branch), "merged_commit": None}}
    facts["pulls"].append(each)
    kind = "merge-requests" if gitlab else "pull"
    there = "git --git-dir=" + facts["remote"]
    os.system(f"{{there}} symbolic-ref refs/{{kind}}/{{each['number']}}/head refs/heads/{{branch}}")
    state.write_text(json.dumps(facts))
    if facts["dies_after_creation"]:
        facts["dies_after_creation"] = False
        state.write_text(json.dumps(facts))
        fail(1, "connection reset by peer")
    while json.loads(state.read_text() or "{{}}").get("stops_after_creation"):
        time.sleep(0.05)
    print(json.dumps(shown(each)))
elif url.path == collection:
    branch = asked["source_branch"] if gitlab else asked["head"].split(":", 1)[1]
    base = asked.get("target_branch" if gitlab else "base")
    print(json.dumps([shown(each) for each in reversed(facts["pulls"])
                      if each["branch"] == branch and base in (None, each["base"])]))
else:
    print(json.dumps(shown(facts["pulls"][int(url.path.rsplit("/", 1)[1]) - 1])))
"""
NEW: dict[str, Any] = {
    "pulls": [],
    "calls": [],
    "hosts": [],
    "trouble": None,
    "insecure": False,
    "dies_after_creation": False,
    "stops_after_creation": False,
}


class Service:
    """The service behind a repository. `url` is what its remote is called; the user's own git configuration leads from
    there to the bare repository."""

    def __init__(self, place: Path, repository: Repository, url: str, program: str) -> None:
        self.repository, self.program = repository, program
        self.bin = place / "bin"
        self.bin.mkdir(parents=True)
        self.state = self.bin / "state.json"
        self.remote = place / "remote.git"
        repository.git("clone", "--quiet", "--bare", str(repository.path), str(self.remote))
        repository.git("remote", "add", "origin", url)
        self.install(program)
        self.set(**NEW, remote=str(self.remote))
        settings = Path(os.environ["GIT_CONFIG_GLOBAL"])
        with settings.open("a") as file:
            file.write(f'[url "{self.remote}"]\n\tinsteadOf = {url}\n')

    def install(self, name: str) -> None:
        file = self.bin / name
        file.write_text(PROGRAM.format(begins=BECOMES_PYTHON))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def uninstall(self) -> None:
        (self.bin / self.program).unlink()

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.state.read_text())
        return found

    @property
    def pulls(self) -> list[dict[str, Any]]:
        return list(self.facts["pulls"])

    def set(self, **facts: Any) -> None:
        before = self.facts if self.state.exists() else {}
        self.state.write_text(json.dumps({**before, **facts}))

    def change(self, number: int = 1, **values: Any) -> None:
        pulls = self.pulls
        pulls[number - 1] |= values
        self.set(pulls=pulls)

    def git(self, *words: str, code: int | None = 0) -> str:
        return self.repository.git(*words, at=self.remote, code=code)

    def branches(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()

    def merge(self, tmp_path: Path, number: int = 1, *, squash: bool = False) -> str:
        """As the service does it when somebody presses the button; returns the commit."""
        pull = self.pulls[number - 1]
        there = tmp_path / f"merging-{number}"
        self.repository.git("clone", "--quiet", str(self.remote), str(there))
        how = ("--squash",) if squash else ("--no-ff", "--message=merged there")
        self.repository.git("checkout", "--quiet", pull["base"], at=there)
        self.repository.git("merge", "--quiet", *how, f"origin/{pull['branch']}", at=there)
        if squash:
            self.repository.git("commit", "--quiet", "--message=squashed there", at=there)
        self.repository.git("push", "--quiet", "origin", pull["base"], at=there)
        commit = self.repository.git("rev-parse", "HEAD", at=there)
        self.change(number, state="merged", merged_commit=commit, head=self.git("rev-parse", pull["branch"]))
        return commit


def with_only(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """PATH with the programs of this directory, and without any real `gh` or `glab`."""
    plain = [each for each in os.environ["PATH"].split(os.pathsep) if not _has_program(Path(each))]
    monkeypatch.setenv("PATH", os.pathsep.join([str(directory), *plain]))


def _has_program(directory: Path) -> bool:
    return any(os.path.exists(directory / name) for name in ("gh", "glab"))  # noqa: PTH110 - also where it may not look
