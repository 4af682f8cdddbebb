"""Pull requests as a Coordinator opens them and looks at them: with real git, a bare remote, and programs that answer
as `gh` and `glab` do.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest

from tests.coordinator.test_task_worktrees import PROJECT, job, since
from tests.coordinator.test_tree_setup import starter
from tests.coordinator.test_worktrees import first, nobody, place, repository, worked
from tests.pull_request_services import Service, with_only
from tests.repositories import Repository
from toryo.coordinator import pull_request_programs, pull_requests, worktrees
from toryo.coordinator.config import AgentConfig, Config
from toryo.coordinator.jobs import Jobs
from toryo.coordinator.worktrees import Trouble, remotes
from toryo.coordinator.worktrees.launch_repositories import repository_of
from toryo.coordinator.worktrees.repository import open_checkout

__all__ = ["first", "nobody", "place", "repository"]

URLS = {"gh": "https://github.com/shop/till.git", "glab": "git@gitlab.example.org:shop/till.git"}


class Shop:
    """A repository with a remote at a service, and what a Coordinator is told to do there."""

    def __init__(self, repository: Repository, place: Path, service: Service) -> None:
        self.repository, self.place, self.service = repository, place, service

    def run(self, *names: str, mask: Any = str, **options: Any) -> dict[str, Any]:
        names = names or ("t1",)
        given = {"order": since(self.repository, self.place, *names), "title": "Round prices", "body": "Done."}
        wanted = job(self.repository, self.place, "pull_request", names[-1], **{**given, **options})
        return pull_requests.run(wanted, self.place, mask)

    def open(self, *names: str, **options: Any) -> dict[str, Any]:
        answer = self.run(*names, **options)
        assert answer["done"], answer
        found: dict[str, Any] = answer["pull_request"]
        return found

    def refused(self, words: str, **options: Any) -> str:
        before = self.repository.state(), self.service.branches()
        answer = self.run(**options)
        assert not answer["done"], answer
        assert words in answer["trouble"]
        assert (self.repository.state(), self.service.branches()) == before
        assert "toryo/t1" in self.repository.git("branch"), "the branch stays"
        return str(answer["trouble"])

    def worked(self, name: str = "t1", **files: str) -> Any:
        return worked(self.repository, self.place / PROJECT, name, **files or {"new": "two\n"})


def shop(repository: Repository, place: Path, tmp_path: Path, monkeypatch: Any, program: str) -> Shop:
    service = Service(tmp_path / "service", repository, URLS[program], program)
    with_only(monkeypatch, service.bin)
    return Shop(repository, place, service)


@pytest.fixture(params=["gh", pytest.param("glab", marks=pytest.mark.deep)])
def either(request, repository, place, tmp_path, monkeypatch) -> Shop:
    return shop(repository, place, tmp_path, monkeypatch, request.param)


@pytest.fixture
def github(repository, place, tmp_path, monkeypatch) -> Shop:
    return shop(repository, place, tmp_path, monkeypatch, "gh")


# --- opening ---------------------------------------------------------------------------------------------------------


def test_the_branch_is_pushed_and_a_pull_request_is_opened_and_nothing_is_merged_here(either):
    either.worked()
    before = either.repository.git("rev-parse", "main")
    found = either.open()
    [pull] = either.service.pulls
    assert (pull["branch"], pull["base"], pull["title"], pull["body"]) == ("toryo/t1", "main", "Round prices", "Done.")
    assert (found["state"], found["number"]) == ("open", 1)
    assert found["url"].startswith("https://")
    assert (
        found["head"] == either.repository.git("rev-parse", "toryo/t1") == either.service.git("rev-parse", "toryo/t1")
    )
    assert either.repository.git("rev-parse", "main") == either.service.git("rev-parse", "main") == before


def test_what_is_not_committed_yet_is_in_the_pull_request(github):
    made = github.worked()
    (made.path / "later").write_text("three\n")
    github.open()
    assert github.service.git("show", "toryo/t1:later") == "three"


def test_work_that_cannot_be_saved_is_told_and_nothing_is_pushed(github):
    made = github.worked()
    (repository_of(made.path) / "MERGE_HEAD").write_text(github.repository.git("rev-parse", "main"))
    github.refused("in the middle of a merge")


def test_the_work_of_subtasks_is_in_the_pull_request_of_their_task(github):
    github.worked("t2", part="part\n")
    github.worked()
    github.open("t2", "t1")
    assert github.service.git("show", "toryo/t1:part") == "part"
    assert github.service.branches() == ["main", "toryo/t1"]


def test_subtasks_whose_work_conflicts_with_that_of_their_task_are_told_and_nothing_is_pushed(github):
    github.worked("t2", a="theirs\n")
    github.worked(a="ours\n")
    answer = github.run("t2", "t1")
    assert not answer["done"]
    assert "toryo/t2 was not merged" in answer["trouble"]
    assert github.service.branches() == ["main"]


def test_the_upstream_of_the_base_branch_decides_where_it_goes(github):
    github.repository.git("remote", "rename", "origin", "work")
    github.service.git("branch", "trunk", "main")
    for name, value in (("remote", "work"), ("merge", "refs/heads/trunk")):
        github.repository.git("config", f"branch.main.{name}", value)
    github.worked()
    assert github.open()["base"] == github.service.pulls[0]["base"] == "trunk"


def test_a_host_whose_name_says_nothing_is_asked_with_the_program_that_is_signed_in_there(
    repository, place, tmp_path, monkeypatch
):
    service = Service(tmp_path / "service", repository, "https://code.example.org/shop/till", "gh")
    service.install("glab")
    with_only(monkeypatch, service.bin)
    found = Shop(repository, place, service)
    found.worked()
    assert "signed in at code.example.org" in found.refused("Neither gh nor glab")
    service.set(hosts=["code.example.org"])
    assert found.open()["host"] == "code.example.org"


TITLES = ["--repo=evil/evil", "-F body=@/etc/passwd", "@/etc/passwd", '"; touch x; "', "$(touch x)", "{owner}", "ü\n\0"]


@pytest.mark.parametrize("title", [TITLES[0], *(pytest.param(each, marks=pytest.mark.deep) for each in TITLES[1:])])
def test_a_title_is_only_a_title_whatever_an_agent_has_written(either, title):
    either.worked()
    either.open(title=title, body=title)
    [pull] = either.service.pulls
    assert (pull["title"], pull["body"]) == (title, title)
    for call in either.service.facts["calls"]:
        assert (call["cwd"], call["git"]) == ("/", [])
        assert title not in call["words"]


def test_secrets_are_not_published(github):
    github.worked()
    github.open(body="the token is s3cret-s3cret", mask=lambda text: text.replace("s3cret-s3cret", "***"))
    assert github.service.pulls[0]["body"] == "the token is ***"


def test_passkeys_of_those_who_have_worked_are_not_published(repository, place, monkeypatch):
    monkeypatch.setattr(pull_requests, "run", lambda job, _place, mask: {"body": mask(job.options["body"])})
    held = starter(place)
    held._config = Config(agents={"ann": AgentConfig(passkey="key-of-ann"), "bob": AgentConfig(passkey="key-of-bob")})
    jobs = Jobs(held._config, cast("Any", None), held, cast("Any", None))
    asked = job(repository, place, "pull_request", authors=["ann"], body="key-of-ann, key-of-bob")
    answer = asyncio.run(jobs._done(asked))
    assert "key-of-ann" not in answer["body"]
    assert "key-of-bob" in answer["body"], "who has not worked on it cannot have written it there"


# --- again -----------------------------------------------------------------------------------------------------------


def test_commits_with_a_secret_are_not_pushed_also_where_it_was_removed_again(github):
    made = worked(github.repository, github.place / PROJECT, "t1", new="ghp_" + "a" * 36)
    (made.path / "new").write_text("nothing\n")
    worktrees.keep(made, "Removed", "w1")
    told = github.refused("new:1 in commit ", forbid_secrets=True)
    assert "ghp_" not in told
    assert github.open("t1")["state"] == "open"  # where nothing forbids it


def test_what_comes_to_the_branch_after_it_was_searched_for_secrets_is_not_pushed_with_it(github, monkeypatch):
    made, program_for = github.worked(), pull_request_programs.program_for

    def meanwhile(host):
        github.repository.commit("late", at=made.path, late="ghp_" + "a" * 36)
        worktrees.diff(made)  # a person looks, and so it comes to the branch
        return program_for(host)

    monkeypatch.setattr(pull_request_programs, "program_for", meanwhile)
    github.open("t1", forbid_secrets=True)
    assert "late" not in github.service.git("ls-tree", "--name-only", "toryo/t1").split()
    assert "late" in github.repository.git("ls-tree", "--name-only", "toryo/t1").split()


def test_a_pull_request_that_is_there_is_used_and_gets_the_new_commits(either):
    made = either.worked()
    first_time = either.open()
    (made.path / "more").write_text("three\n")
    again = either.open()
    assert (again["url"], again["number"]) == (first_time["url"], 1)
    assert len(either.service.pulls) == 1
    assert either.service.git("show", "toryo/t1:more") == "three"


def test_a_coordinator_that_died_between_push_and_report_opens_no_second_one(either, monkeypatch):
    either.worked()
    with monkeypatch.context() as dying:
        dying.setattr(pull_requests, "_report", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            either.run()
    assert len(either.service.pulls) == 1
    assert either.open()["number"] == 1
    assert len(either.service.pulls) == 1


def test_a_coordinator_that_died_between_push_and_creation_pushes_the_same_again(github, monkeypatch):
    github.worked()
    checkout = open_checkout(github.repository.path)
    remote, commit = remotes.remote_of(checkout, "main"), github.repository.git("rev-parse", "toryo/t1")
    remotes.push(checkout, remote, "toryo/t1", commit)
    assert github.open()["number"] == 1


def test_an_answer_that_was_lost_on_the_way_is_looked_for(either):
    either.worked()
    either.service.set(dies_after_creation=True)
    assert either.open()["number"] == 1
    assert len(either.service.pulls) == 1


def test_after_a_closed_pull_request_a_new_one_is_opened(either):
    either.worked()
    either.open()
    either.service.change(state="closed")
    assert either.open()["number"] == 2


# --- what prevents it ------------------------------------------------------------------------------------------------


def test_without_a_program_the_next_step_is_named_and_nothing_is_pushed(either):
    either.worked()
    either.service.uninstall()
    told = either.refused("is not on the PATH of the Coordinator")
    assert f"{either.service.program} auth login --hostname" in told


def test_who_is_not_signed_in_is_told_the_command_and_nothing_is_pushed(either):
    either.worked()
    either.service.set(trouble=[4, "To get started, please run: auth login"])
    assert "Sign in as the user that runs the Coordinator" in either.refused("failed at")


def test_without_a_remote_the_next_step_is_named(github):
    github.worked()
    github.repository.git("remote", "remove", "origin")
    github.refused("git remote add origin ADDRESS")


NEVER_GIVEN_TO_GIT = [
    "ext::sh -c touch% x",
    "/srv/till.git",
    "file:///srv/till.git",
    "http://github.com/shop/till",
    "git://github.com/shop/till",
    "ssh://-oProxyCommand=x/shop/till",
    "-oProxyCommand=x:shop/till",
    "https://github.com/till",
    "https://github.com/../till",
    "https://github.com/shop/till?x",
    "https://github.com:x/shop/till",
    "--upload-pack=x",
]


def test_an_address_that_is_none_of_https_or_ssh_is_never_given_to_git(github):
    github.worked()
    for url in NEVER_GIVEN_TO_GIT:
        github.repository.git("config", "remote.origin.url", url)
        github.refused("has no https or ssh address")


def test_a_remote_that_became_another_one_gets_nothing_until_a_person_has_looked(github):
    github.worked()
    github.open()
    github.repository.git("config", "remote.origin.url", "https://github.com/ann/public")
    answer = github.run()
    assert "went to github.com/shop/till" in answer["trouble"]
    (github.place / PROJECT / remotes.NOTE).unlink()
    assert "HTTP 404" in github.run()["trouble"]


def test_a_password_in_an_address_is_not_shown(github):
    github.worked()
    url = "https://ann:s3cret@github.com/shop/till.git"
    github.repository.git("config", "remote.origin.url", url)
    found = remotes.remote_of(open_checkout(github.repository.path), "main")
    assert "s3cret" not in f"{found} {found!r}"
    assert (found.host, found.path) == ("github.com", "shop/till")


def test_a_push_that_is_rejected_is_told_and_never_forced(github):
    made = github.worked()
    github.open()
    theirs = github.service.git("commit-tree", "-p", "toryo/t1", "-m", "theirs", "toryo/t1^{tree}")
    github.service.git("update-ref", "refs/heads/toryo/t1", theirs)
    (made.path / "more").write_text("three\n")
    answer = github.run()
    assert "was not pushed to github.com/shop/till" in answer["trouble"]
    assert "git push origin toryo/t1" in answer["trouble"]
    assert github.service.git("rev-parse", "toryo/t1") == theirs


def test_the_base_branch_is_never_pushed_to(github):
    github.worked()
    github.repository.git("config", "branch.main.remote", "origin")
    github.repository.git("config", "branch.main.merge", "refs/heads/toryo/t1")
    github.refused("Toryo never pushes to it")


def test_an_address_that_is_not_https_is_not_told(github):
    github.worked()
    github.service.set(insecure=True)
    assert "not https" in github.run()["trouble"]


def test_nothing_that_an_agent_has_written_into_the_repository_runs_when_it_is_pushed(github, tmp_path):
    github.worked()
    github.repository.git("tag", "--annotate", "--message=x", "v1", "toryo/t1")
    github.repository.git("branch", "other", "main")
    mark = tmp_path / "mark"
    git = github.repository.path / ".git"
    program = f"touch {shlex.quote(str(mark))}; cat; exit 1"
    (git / "hooks").mkdir(exist_ok=True)
    for hook in ("pre-push", "post-update", "reference-transaction"):
        (git / "hooks" / hook).write_text(f"#!/bin/sh\n{program}\n")
        (git / "hooks" / hook).chmod(0o755)
    evil = tmp_path / "evil.git"
    github.repository.git("init", "--quiet", "--bare", str(evil))
    for name, value in {
        "core.sshCommand": program,
        "core.hooksPath": str(git / "hooks"),
        "core.askPass": program,
        "credential.helper": f"!{program}",
        "credential.https://github.com.helper": f"!{program}",
        "remote.origin.receivepack": program,
        "remote.origin.uploadpack": program,
        "remote.origin.vcs": "evil",
        "remote.origin.proxy": "http://127.0.0.1:9",
        "http.proxy": "http://127.0.0.1:9",
        f"url.{evil}.insteadOf": "https://github.com/",
        f"url.{evil}.pushInsteadOf": "https://github.com/",
        "push.pushOption": "ci.skip",
        "push.followTags": "true",
        "protocol.ext.allow": "always",
        "remote.origin.mirror": "true",
        "remote.origin.push": "+refs/heads/*:refs/heads/*",
    }.items():
        github.repository.git("config", name, value)
    github.open()
    assert not mark.exists()
    assert github.service.branches() == ["main", "toryo/t1"]
    assert github.service.git("tag") == ""
    assert github.repository.git("for-each-ref", at=evil) == ""


# --- after it was opened ---------------------------------------------------------------------------------------------


def test_an_open_pull_request_changes_nothing_when_it_is_looked_at(either):
    made = either.worked()
    told = either.open()
    before = either.repository.state()
    assert either.open(look=told) == told
    assert either.repository.state() == before
    assert made.path.is_dir()


@pytest.mark.parametrize("squash", [False, True])
def test_after_the_merge_there_the_base_branch_here_has_it_and_the_worktree_is_gone(either, tmp_path, squash):
    made = either.worked()
    told = either.open()
    commit = either.service.merge(tmp_path, squash=squash)
    answer = either.run(look=told)
    assert answer["done"], answer
    assert answer["merged"] == [{"task_id": "t1", "commit": commit, "into": "main"}]
    assert answer["pull_request"]["state"] == "merged"
    assert either.repository.git("rev-parse", "main") == commit
    assert (either.repository.path / "new").read_text() == "two\n"
    assert not made.path.exists()
    assert "toryo/t1" not in either.repository.git("branch")
    assert either.run(look=told)["merged"] == answer["merged"], "a report that was lost is made again"


def test_work_that_came_after_the_merge_is_kept_and_told(github, tmp_path):
    made = github.worked()
    told = github.open()
    github.service.merge(tmp_path)
    (made.path / "late").write_text("late\n")
    answer = github.run(look=told)
    assert (answer["done"], answer["merged"], answer["task_id"]) == (False, [], "t1")
    assert "uncommitted changes" in answer["trouble"]
    assert (made.path / "late").read_text() == "late\n"


def test_commits_that_came_after_the_merge_are_kept_and_told(github, tmp_path):
    made = github.worked()
    told = github.open()
    github.service.merge(tmp_path)
    (made.path / "late").write_text("late\n")
    assert worktrees.keep(made, "Late", "w1").committed
    answer = github.run(look=told)
    assert (answer["done"], answer["merged"], answer["task_id"]) == (False, [], "t1")
    assert "commits that were not in its pull request" in answer["trouble"]
    assert (made.path / "late").read_text() == "late\n"


@pytest.mark.deep
def test_work_that_was_started_again_meanwhile_is_not_removed_with_the_old_one(github, tmp_path):
    part = github.worked("t2", part="x\n")
    github.worked()
    told = github.open("t2", "t1")
    github.service.merge(tmp_path)
    answer = github.run("t2", "t1", look=told, restarted=["t2"])
    assert (answer["done"], [each["task_id"] for each in answer["merged"]]) == (True, ["t1"])
    assert part.path.is_dir()


@pytest.mark.deep
def test_all_worktrees_that_could_not_be_removed_are_told(github, tmp_path):
    made = [github.worked("t3", third="x\n"), github.worked("t2", part="x\n"), github.worked()]
    told = github.open("t3", "t2", "t1")
    github.service.merge(tmp_path)
    for each in made[:2]:
        (each.path / "late").write_text("late\n")
    answer = github.run("t3", "t2", "t1", look=told)
    assert [each["task_id"] for each in answer["merged"]] == ["t1"]
    assert answer["task_id"] in ("t2", "t3")
    for each in made[:2]:
        assert f"{each.path} was not removed" in answer["trouble"]


@pytest.mark.deep
def test_a_base_branch_that_cannot_be_updated_is_told_until_somebody_has_updated_it(either, tmp_path):
    made = either.worked()
    told = either.open()
    commit = either.service.merge(tmp_path)
    own = either.repository.commit("own", other="x\n")
    answer = either.run(look=told)
    assert (answer["done"], answer["merged"], answer["task_id"]) == (False, [], "t1")
    assert answer["pull_request"]["state"] == "merged"
    assert "main was not updated, so other tasks start without that work" in answer["trouble"]
    assert "git pull" in answer["trouble"]
    assert either.repository.git("rev-parse", "main") == own
    assert made.path.is_dir()
    either.repository.git("fetch", "--quiet", "origin", "main")
    either.repository.git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    answer = either.run(look=told)
    assert (answer["done"], answer["merged"]) == (True, [{"task_id": "t1", "commit": commit, "into": "main"}]), answer
    assert not made.path.exists()


@pytest.mark.deep
def test_who_has_updated_the_base_branch_need_not_wait_for_the_next_look(either, tmp_path):
    either.worked()
    told = either.open()
    updated = either.service.git("commit-tree", "-p", "toryo/t1", "-m", "theirs", "toryo/t1^{tree}")
    either.service.git("update-ref", "refs/heads/toryo/t1", updated)
    either.service.merge(tmp_path)
    (either.repository.path / "new").write_text("mine\n")
    assert not either.run(look=told)["done"]
    (either.repository.path / "new").unlink()
    assert either.run()["merged"]
    assert len(either.service.pulls) == 1


def test_uncommitted_changes_in_the_checkout_are_never_overwritten(github, tmp_path):
    github.worked()
    told = github.open()
    github.service.merge(tmp_path)
    (github.repository.path / "new").write_text("mine\n")
    assert "would overwrite" in github.run(look=told)["trouble"]
    assert (github.repository.path / "new").read_text() == "mine\n"


def test_a_pull_request_that_was_closed_is_told_and_the_work_stays(either):
    made = either.worked()
    told = either.open()
    either.service.change(state="closed")
    answer = either.run(look=told)
    assert (answer["done"], answer["task_id"], answer["pull_request"]["state"]) == (False, "t1", "closed")
    assert "was closed without being merged" in answer["trouble"]
    assert made.path.is_dir()


def test_a_service_that_does_not_answer_tells_nothing_about_the_pull_request(either):
    either.worked()
    told = either.open()
    either.service.set(trouble=[1, "HTTP 502"])
    answer = either.run(look=told)
    assert not answer["done"]
    assert "pull_request" not in answer


def test_it_is_looked_for_where_it_was_opened_whatever_the_configuration_says_by_now(github, tmp_path):
    github.worked()
    told = github.open()
    github.service.merge(tmp_path)
    before = github.repository.git("rev-parse", "main")
    github.repository.git("config", "remote.origin.url", "https://github.com/evil/evil")
    assert "remote is another one" in github.run(look=told)["trouble"]
    assert github.repository.git("rev-parse", "main") == before


@pytest.mark.deep
def test_work_that_was_merged_before_it_was_asked_for_again_counts_as_merged(github, tmp_path):
    github.worked()
    github.open()
    github.service.merge(tmp_path)
    assert github.run()["merged"]
    assert len(github.service.pulls) == 1


def test_only_the_branch_of_a_task_can_be_pushed(github):
    checkout = open_checkout(github.repository.path)
    with pytest.raises(Trouble, match="never pushes"):
        remotes.push(checkout, remotes.remote_of(checkout, "main"), "main", github.repository.git("rev-parse", "main"))


# --- what was found in a review --------------------------------------------------------------------------------------


def test_what_no_commit_can_keep_stays_after_the_merge_and_is_told(github, tmp_path):
    made = github.worked()
    Repository(made.path / "cloned").commit(x="x")
    told = github.open()
    github.service.merge(tmp_path)
    answer = github.run(look=told)
    assert (answer["done"], answer["merged"], answer["task_id"]) == (False, [], "t1")
    assert "cloned/" in answer["trouble"]
    assert (made.path / "cloned" / "x").read_text() == "x"


@pytest.mark.deep
def test_work_whose_branch_got_commits_there_is_merged_with_it_though_it_was_squashed(either, tmp_path):
    made = either.worked()
    told = either.open()
    updated = either.service.git("commit-tree", "-p", "toryo/t1", "-m", "theirs", "toryo/t1^{tree}")
    either.service.git("update-ref", "refs/heads/toryo/t1", updated)
    commit = either.service.merge(tmp_path, squash=True)
    answer = either.run(look=told)
    assert answer["merged"] == [{"task_id": "t1", "commit": commit, "into": "main"}], answer
    assert not made.path.exists()


def test_the_branch_into_which_it_was_merged_there_is_told(either, tmp_path):
    either.worked()
    told = either.open()
    before = either.repository.git("rev-parse", "main")
    either.service.git("branch", "release", "main")
    either.service.change(base="release")
    either.service.merge(tmp_path)
    answer = either.run(look=told)
    assert [each["into"] for each in answer["merged"]] == ["release"]
    assert "merged into release" in answer["answer"]["message"]
    assert answer["pull_request"]["base"] == "release"
    assert either.repository.git("rev-parse", "main") == before


def test_one_that_somebody_has_moved_to_another_base_is_not_opened_a_second_time(either):
    either.worked()
    either.open()
    either.service.git("branch", "release", "main")
    either.service.change(base="release")
    assert either.open()["number"] == 1


def test_one_from_a_fork_is_not_taken_for_that_of_the_task(repository, place, tmp_path, monkeypatch):
    gitlab = shop(repository, place, tmp_path, monkeypatch, "glab")
    gitlab.worked()
    strange = {"number": 1, "branch": "toryo/t1", "base": "main", "state": "open", "head": "f00", "fork": True}
    gitlab.service.set(pulls=[{**strange, "merged_commit": None}])
    assert gitlab.open()["number"] == 2


def test_a_text_of_an_agent_is_no_order_to_gitlab(repository, place, tmp_path, monkeypatch):
    gitlab = shop(repository, place, tmp_path, monkeypatch, "glab")
    gitlab.worked()
    gitlab.open(body="Done.\n/target_branch production\r\n/assign @ann\rx /y")
    assert not re.search(r"(?m)^/", gitlab.service.pulls[0]["body"].replace("\r", ""))
    assert "target_branch production" in gitlab.service.pulls[0]["body"]


def test_tokens_of_the_environment_are_given_to_their_own_host_alone(monkeypatch):
    names = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN")
    for name in names:
        monkeypatch.setenv(name, "s3cret")
    found = pull_request_programs.environment_for("git.evil.example", os.environ)
    assert not set(names) & set(found)
    assert pull_request_programs.environment_for("gitlab.com", os.environ)["GITLAB_TOKEN"] == "s3cret"
    monkeypatch.setenv("GH_HOST", "github.example.org")
    monkeypatch.setenv("GITLAB_HOST", "https://gitlab.example.org/")
    assert pull_request_programs.environment_for("github.example.org", os.environ)["GH_ENTERPRISE_TOKEN"] == "s3cret"
    assert pull_request_programs.environment_for("gitlab.example.org", os.environ)["GITLAB_TOKEN"] == "s3cret"
    assert "GITLAB_TOKEN" not in pull_request_programs.environment_for("gitlab.com", os.environ)


def test_work_that_was_only_pushed_is_not_removed(github):
    made = github.worked()
    github.open()
    with pytest.raises(Trouble, match="in no other branch"):
        worktrees.remove(made)
    said = worktrees.discard(made)
    assert said.commit is not None
