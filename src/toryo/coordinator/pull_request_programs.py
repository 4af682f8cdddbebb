"""`gh` (GitHub) and `glab` (GitLab), which open pull requests and look at them: as the user that runs the Coordinator,
who has signed in with them.

Both are asked for one call of their service's API at a time. Titles and texts are JSON on standard input, so nothing
that an agent has written becomes an option; the rest of the path is quoted. They work in no repository, so they read no
configuration that an agent could have written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from toryo.coordinator.worktrees.git import Trouble, environment

TIME_LIMIT = 60.0
QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GLAB_CHECK_UPDATE": "false",
    "NO_PROMPT": "1",
    "NO_COLOR": "1",
}
TOKENS = {
    ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"): (("GH_HOST",), None),
    ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN"): (("GITLAB_HOST", "GITLAB_URI", "GL_HOST"), "gitlab.com"),
}
"""Tokens that the programs send to any host, the variables that name the host that they are for, and their usual one:
agents may have written the address of a remote."""
_SIGNED_OUT = ("auth login", "HTTP 401", "401 Unauthorized", "Bad credentials")


@dataclass(frozen=True, slots=True)
class PullRequest:
    number: int
    url: str
    state: str
    """`open`, `merged` or `closed`."""
    head: str
    base: str
    """The branch that it goes to: people may have changed that there."""
    merged_commit: str | None


class Program(ABC):
    name = ""
    sign = ""
    """What is in the name of its service's hosts."""

    def find(self, host: str, repository: str, branch: str) -> list[PullRequest]:
        """Those from a branch of the repository itself into any other one, newest first."""
        path, asked = self._listed(repository, branch)
        return self._read(self._api(host, "GET", f"{path}?{urlencode(asked)}"), many=True)

    def view(self, host: str, repository: str, number: int) -> PullRequest:
        return self._read(self._api(host, "GET", f"{self._path(repository)}/{number}"))[0]

    def create(self, host: str, repository: str, branch: str, base: str, title: str, text: str) -> PullRequest:
        body = self._wanted(branch, base, title, text)
        return self._read(self._api(host, "POST", self._path(repository), body))[0]

    @abstractmethod
    def ref(self, number: int) -> str:
        """Where its last commit is in its repository, also after its branch was deleted."""

    def signed_in(self, host: str) -> bool:
        return self._run(["auth", "status", "--hostname", host], host).returncode == 0

    @abstractmethod
    def _path(self, repository: str) -> str: ...

    @abstractmethod
    def _listed(self, repository: str, branch: str) -> tuple[str, dict[str, str]]: ...

    @abstractmethod
    def _wanted(self, branch: str, base: str, title: str, text: str) -> dict[str, str]: ...

    @abstractmethod
    def _one(self, told: Mapping[str, Any]) -> PullRequest: ...

    def _is_own(self, told: Mapping[str, Any]) -> bool:  # noqa: ARG002 - for those services that list others, too
        """Whether its branch is in the repository itself."""
        return True

    def _read(self, told: Any, *, many: bool = False) -> list[PullRequest]:
        try:
            found = [self._one(each) for each in (filter(self._is_own, told) if many else [told])]
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise Trouble(f"{self.name} answered something else than a pull request. Update {self.name}.") from problem
        for each in found:
            if not each.url.startswith("https://"):
                raise Trouble(f"{self.name} answered with an address that is not https. Set up https for that service.")
        return found

    def _api(self, host: str, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        given = [] if body is None else ["--header", "Content-Type: application/json", "--input", "-"]
        words = ["api", "--hostname", host, "--method", method, *given, path]
        done = self._run(words, host, "" if body is None else json.dumps(body))
        if done.returncode != 0:
            raise Trouble(self._failed(host, done))
        try:
            return json.loads(done.stdout)
        except ValueError as problem:
            raise Trouble(f"{self.name} printed no JSON. Update {self.name}.") from problem

    def _failed(self, host: str, done: subprocess.CompletedProcess[str]) -> str:
        said = " ".join(f"{done.stderr} {done.stdout}".split())[:1000] or f"exit code {done.returncode}"
        signed_out = any(each in said for each in _SIGNED_OUT)
        step = (
            f"Sign in as the user that runs the Coordinator: {self.name} auth login --hostname {host}"
            if signed_out
            else f"Check what it may do there: {self.name} auth status --hostname {host}"
        )
        return f"{self.name} failed at {host}: {said}. {step}"

    def _run(self, words: list[str], host: str, given: str = "") -> subprocess.CompletedProcess[str]:
        there = environment_for(host, os.environ) | QUIET
        try:
            return subprocess.run(
                [self.name, *words],
                cwd="/",
                env=there,
                input=given,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=TIME_LIMIT,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"{self.name} did not answer within {TIME_LIMIT:g} s. Is {host} reachable?") from late
        except OSError as problem:
            raise Trouble(f"{self.name} cannot be run: {problem.strerror}. Install it again.") from problem


class GitHub(Program):
    name, sign = "gh", "github"

    def _path(self, repository: str) -> str:
        return f"repos/{quote(repository)}/pulls"

    def ref(self, number: int) -> str:
        return f"refs/pull/{number}/head"

    def _listed(self, repository: str, branch: str) -> tuple[str, dict[str, str]]:
        owner = repository.split("/", 1)[0]
        return self._path(repository), {"state": "all", "head": f"{owner}:{branch}"}

    def _wanted(self, branch: str, base: str, title: str, text: str) -> dict[str, str]:
        return {"head": branch, "base": base, "title": title, "body": text}

    def _one(self, told: Mapping[str, Any]) -> PullRequest:
        merged = told.get("merged_at") is not None
        state = "merged" if merged else str(told["state"])
        commit = told.get("merge_commit_sha") if merged else None
        head, base = str(told["head"]["sha"]), str(told["base"]["ref"])
        return PullRequest(int(told["number"]), str(told["html_url"]), state, head, base, commit)


class GitLab(Program):
    name, sign = "glab", "gitlab"

    def _path(self, repository: str) -> str:
        return f"projects/{quote(repository, safe='')}/merge_requests"

    def ref(self, number: int) -> str:
        return f"refs/merge-requests/{number}/head"

    def _listed(self, repository: str, branch: str) -> tuple[str, dict[str, str]]:
        return self._path(repository), {"state": "all", "source_branch": branch}

    def _wanted(self, branch: str, base: str, title: str, text: str) -> dict[str, str]:
        """GitLab obeys lines of a description that begin with a slash (`/target_branch …`), as if who has signed in
        had given the order: none does."""
        said = re.sub("(?m)^/", r"\\/", text.replace("\r", ""))
        return {"source_branch": branch, "target_branch": base, "title": title, "description": said}

    def _is_own(self, told: Mapping[str, Any]) -> bool:
        """Everybody can open one from a branch of the same name in a fork."""
        return bool(told["source_project_id"] == told["target_project_id"])

    def _one(self, told: Mapping[str, Any]) -> PullRequest:
        state = {"merged": "merged", "closed": "closed"}.get(str(told["state"]), "open")  # also while it is locked
        commit = told.get("merge_commit_sha") or told.get("squash_commit_sha") if state == "merged" else None
        head, base = str(told["sha"]), str(told["target_branch"])
        return PullRequest(int(told["iid"]), str(told["web_url"]), state, head, base, commit)


PROGRAMS: tuple[Program, ...] = (GitHub(), GitLab())


def program_named(name: str) -> Program:
    found = next((each for each in PROGRAMS if each.name == name), None)
    if found is None:
        raise Trouble(f"This Coordinator does not know the program {name}. Update it.")
    return found


def program_for(host: str) -> Program:
    """The program for a host: by the host's name, else the one that is signed in there. Raises Trouble."""
    candidates = [each for each in PROGRAMS if each.sign in host] or list(PROGRAMS)
    path = environment(os.environ)["PATH"]
    there = [each for each in candidates if shutil.which(each.name, path=path) is not None]
    if not there:
        wanted = " or ".join(each.name for each in candidates)
        raise Trouble(
            f"{wanted} is not on the PATH of the Coordinator, so no pull request can be opened at {host}. Install it, "
            f"and sign in as the user that runs the Coordinator: {candidates[0].name} auth login --hostname {host}"
        )
    if len(candidates) == 1:
        return there[0]
    signed_in = next((each for each in there if each.signed_in(host)), None)
    if signed_in is None:
        raise Trouble(
            f"Neither gh nor glab is signed in at {host}. Sign in as the user that runs the Coordinator: "
            f"gh auth login --hostname {host} (GitHub) or glab auth login --hostname {host} (GitLab)"
        )
    return signed_in


def environment_for(host: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Without tokens that are for another host."""
    kept = environment(inherited)
    for tokens, (names, usual) in TOKENS.items():
        named = next((kept[name] for name in names if kept.get(name)), usual or "")
        if named.rpartition("://")[2].partition("/")[0].lower() != host:
            for token in tokens:
                kept.pop(token, None)
    return kept
