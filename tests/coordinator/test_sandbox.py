"""The sandbox of agents' programs: what a program sees, writes and leaves behind in it. Real ones, by bubblewrap."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sandboxes import sandboxed
from tests.scenarios.programs import gone
from toryo import sandbox_signs
from toryo.coordinator import acceptance_checks, logs, processes, sandbox, shown_home, worktrees
from toryo.coordinator.config import Config
from toryo.coordinator.launch_state import Stage
from toryo.coordinator.network_limits import Limits
from toryo.coordinator.orders import CheckOrder, Launch
from toryo.coordinator.process_start import Starter
from toryo.coordinator.program_homes import ProgramHomes
from toryo.coordinator.provider import BadConfig, Command, Needs, Provider
from toryo.coordinator.providers import BUILT_IN, configured
from toryo.coordinator.sandbox import Found, Mode, Place, Sandbox
from toryo.coordinator.workspaces import Workspaces
from toryo.coordinator.worktrees.launch_repositories import repository_of
from toryo.sandbox_network import Network

BOUND = 100.0
__all__ = ["sandboxed"]


class Yard:
    """A machine's places: a home with secrets, a server's data directory, a project in git, one launch."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.home, self.data, self.project = (folder / each for each in ("home", "data", "project"))
        self.workspace = self.data / "workspaces" / "lau_1"
        secrets = (
            self.data / "owner.token",
            self.data / "toryo.db",
            self.data / "workspaces" / "lau_2" / "mcp.json",
            self.data / "logs" / "lau_2.log",
            self.home / ".ssh" / "id_ed25519",
            self.home / ".aws" / "credentials",
            self.home / ".config" / "gh" / "hosts.yml",
            folder / "other" / "notes.txt",
        )
        for secret in secrets:
            secret.parent.mkdir(parents=True, exist_ok=True)
            secret.write_text("hush")
        self.secrets = secrets
        self.workspace.mkdir(parents=True)
        self.project.mkdir()
        git(self.project, "init", "--quiet")
        git(self.project, "commit", "--quiet", "--allow-empty", "--message", "first")
        self.homes, self.launch = ProgramHomes(self.data / "workspaces"), Launch("lau_1", "ann")
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.sandbox = Sandbox(Mode.BWRAP, hidden=[self.data], inherited=os.environ, **more)

    def run(
        self, script: str, *, environ: Mapping[str, str] | None = None, limits: Limits | None = None, **place: Any
    ) -> str:
        """What a shell script prints in there."""
        if "homes" not in place:
            own = place.get("needs", Needs()).own
            place["homes"] = self.homes.make(self.launch, own, None, written=[self.project])
        where = Place(**{"project": self.project, "workspace": self.workspace, "server_url": "http://x", **place})
        env = {**self.environ, **(environ or {})}
        walled = self.sandbox.around(["/bin/sh", "-c", script], env, where, limits=limits)
        try:
            done = subprocess.run(
                walled.argv,
                env=dict(walled.env),
                pass_fds=walled.keep,
                capture_output=True,
                text=True,
                timeout=BOUND,
                check=False,
            )
        finally:
            walled.close()
        return done.stdout + done.stderr


@pytest.fixture
def yard(tmp_path: Path, sandboxed: None) -> Yard:
    return Yard(tmp_path)


def git(where: Path, *words: str) -> str:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", "-C", str(where), *named, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# --- what is seen and written -----------------------------------------------------------------------------------------


def test_nothing_secret_of_the_machine_can_be_read(yard: Yard) -> None:
    said = yard.run("; ".join(f"cat '{secret}'" for secret in yard.secrets))
    assert "hush" not in said
    assert said.count("No such file") == len(yard.secrets)


def test_of_a_home_only_what_is_there_is_hidden(tmp_path: Path) -> None:
    assert list(shown_home.hidden(tmp_path)) == []
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".netrc").symlink_to("/nowhere")
    assert list(shown_home.hidden(tmp_path)) == [tmp_path / ".ssh", tmp_path / ".netrc"]


def test_it_writes_its_project_its_own_directory_and_nothing_else(yard: Yard) -> None:
    yard.run(
        f"echo a > made.txt; echo b > {yard.workspace}/made.txt; echo c > {yard.home}/made.txt; echo d > /usr/made.txt"
    )
    assert (yard.project / "made.txt").read_text() == "a\n"
    assert (yard.workspace / "made.txt").read_text() == "b\n"
    assert not (yard.home / "made.txt").exists()
    assert not Path("/usr/made.txt").exists()


def test_what_it_writes_beside_its_project_is_refused_and_what_it_writes_into_its_home_is_its_own(yard: Yard) -> None:
    beside = yard.project.parent
    places = (Path("/made"), Path("/run/made"), *([] if beside.is_relative_to("/tmp") else [beside / "made"]))
    said = yard.run("; ".join(f"echo a > {each}" for each in places) + "; mkdir ~/.cache && echo b > ~/.cache/made")
    assert said.count("Read-only file system") == said.count("\n") == len(places), said
    assert not [each for each in (*places, yard.home / ".cache") if each.exists()]


def test_a_data_directory_within_the_project_is_hidden_and_cannot_be_moved_away(
    tmp_path: Path, sandboxed: None
) -> None:
    yard = Yard(tmp_path)
    data = yard.project / "deep" / "down" / ".toryo"
    data.mkdir(parents=True)
    (data / "owner.token").write_text("hush")
    yard.sandbox = Sandbox(Mode.BWRAP, hidden=[data], inherited=os.environ)
    said = yard.run(f"cat {data}/owner.token; mv deep moved; mv deep/down moved; ls -A {data}")
    assert "hush" not in said
    assert (data / "owner.token").read_text() == "hush"
    assert [path for path in yard.project.rglob("owner.token") if data not in path.parents] == []


@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_project_that_contains_the_home_is_refused(yard: Yard, up: int) -> None:
    project = (yard.home, *yard.home.parents)[up]
    with pytest.raises(BadConfig, match="contains the home directory"):
        yard.run("echo evil > .profile", project=project)
    assert not (yard.home / ".profile").exists()


def test_neither_the_whole_machine_nor_the_servers_data_directory_can_be_a_project(yard: Yard) -> None:
    for project in (Path("/"), yard.data):
        with pytest.raises(BadConfig, match="the root of the file system or the server's data directory"):
            yard.run("true", project=project)


@pytest.mark.parametrize("limited", [True, False])
def test_of_what_resolves_names_one_file_is_shown_where_the_network_is_open_and_never_a_socket(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, *, limited: bool
) -> None:
    """systemd-resolved answers anybody at a socket beside its file."""
    folder, link = yard.home / "resolve", yard.data / "resolv.conf"
    folder.mkdir()
    (folder / "stub-resolv.conf").write_text("nameserver 127.0.0.53\n")
    link.symlink_to(folder / "stub-resolv.conf")
    monkeypatch.setattr(sandbox, "_RESOLVER", str(link))
    with socket.socket(socket.AF_UNIX) as answers:
        answers.bind(str(folder / "io.systemd.Resolve"))
        said = yard.run(f"ls {folder} /run/systemd", limits=Limits() if limited else None)
    assert "io.systemd.Resolve" not in said
    assert ("stub-resolv.conf" in said) is not limited
    assert "'/run/systemd': No such file" in said


def test_the_machines_own_home_of_the_user_counts_too_whatever_the_environment_says(yard: Yard) -> None:
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    with pytest.raises(BadConfig, match="contains the home directory"):
        yard.run("true", project=own, environ={"HOME": str(yard.home)})


def test_a_path_that_contains_the_home_cannot_be_made_writable_for_all(yard: Yard) -> None:
    with pytest.raises(BadConfig, match="sandbox_write"):
        Sandbox(Mode.BWRAP, writes=[yard.home.parent], inherited=yard.environ)


def test_a_project_beside_keys_shows_none_of_them(yard: Yard) -> None:
    said = yard.run("cat gh/hosts.yml; echo ok > here", project=yard.home / ".config")
    assert "hush" not in said
    assert (yard.home / ".config" / "here").exists()


CREDENTIALS = (
    *(".ssh/id_ed25519", ".ssh/config", ".gnupg/secring.gpg", ".netrc", ".git-credentials", ".config/git/credentials"),
    *(".aws/credentials", ".aws/config", ".azure/accessTokens.json", ".kube/config", ".docker/config.json"),
    *(".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".config/hub", ".config/gcloud/credentials.db"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".cargo/config", ".cargo/config.toml", ".npmrc", ".yarnrc.yml"),
    *(".npm-global/etc/npmrc", ".nvm/versions/node/v22.0.0/etc/npmrc", ".volta/tools/image/node/22.0.0/etc/npmrc"),
    *(".asdf/installs/nodejs/22.0.0/etc/npmrc", ".local/share/mise/installs/node/22.0.0/etc/npmrc"),
    *(".local/share/fnm/node-versions/v22.0.0/installation/etc/npmrc", ".config/pnpm/rc", ".local/share/pnpm/rc"),
    *(".bunfig.toml", ".bun/install/global/.npmrc", ".pypirc", ".config/pip/pip.conf", ".pip/pip.conf"),
    *(".pyenv/versions/3.12.0/pip.conf", ".local/share/pipx/venvs/x/pip.conf", ".local/share/uv/tools/x/pip.conf"),
    *(".config/uv/uv.toml", ".local/share/uv/credentials/credentials.toml", ".m2/settings.xml", ".gem/credentials"),
    *(".m2/settings-security.xml", ".gradle/gradle.properties", ".local/share/gem/credentials", ".bundle/config"),
    *(".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet/NuGet.Config", ".terraformrc"),
    *(
        ".terraform.d/credentials.json",
        ".config/rclone/rclone.conf",
        ".s3cfg",
        ".boto",
        ".pgpass",
        ".my.cnf",
        ".vault-token",
    ),
    *(".cargo/unknown", ".npm-global/unknown", ".bun/unknown", ".deno/unknown", ".local/share/unknown", "go/unknown"),
    *(".env", ".config/containers/auth.json", ".cache/huggingface/token", ".huggingface/token", ".kaggle/kaggle.json"),
    *(".password-store/a.gpg", ".local/share/keyrings/login.keyring", ".mozilla/firefox/a/logins.json", ".bashrc"),
    *(".config/chromium/Default/Login Data", ".bash_history", ".zsh_history", ".python_history", ".profile"),
    *(".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".qwen/oauth_creds.json"),
    *(".copilot/config.json", ".local/share/opencode/auth.json", ".config/anything/token", ".anything"),
)
"""Files of a home in which programs keep logins, and what was said to them."""


@pytest.mark.parametrize("shown", [False, True], ids=["by-default", "with-all-that-a-person-shows"])
def test_no_credential_of_a_home_is_found_in_there(tmp_path: Path, sandboxed: None, shown: bool) -> None:
    """What a program finds by looking, not only where it is told to look. A person may show the whole home: then what
    has a known place is hidden still."""
    yard = Yard(tmp_path, **({"reads": [tmp_path / "home"]} if shown else {}))
    for number, name in enumerate(CREDENTIALS):
        (yard.home / name).parent.mkdir(parents=True, exist_ok=True)
        (yard.home / name).write_text(f"hush-{number}.")
    for tool in (".cargo/bin/cargo", ".nvm/versions/node/v22.0.0/bin/node", ".npm-global/lib/node_modules/x.js"):
        (yard.home / tool).parent.mkdir(parents=True, exist_ok=True)
        (yard.home / tool).write_text("a program ")
    found = yard.run(f"grep -rhs hush {yard.home}; grep -rhs 'a program' {yard.home}; true")
    theirs = {CREDENTIALS[int(each)] for each in re.findall(r"hush-(\d+)\.", found)}
    assert found.count("a program") == 3
    assert theirs == ({each for each in CREDENTIALS if each.startswith(NO_KNOWN_PLACE)} if shown else set())


NO_KNOWN_PLACE = (
    *(
        ".claude/",
        ".codex/",
        ".gemini/",
        ".qwen/",
        ".copilot/",
        ".local/share/opencode/",
        ".local/share/uv/credentials",
    ),
    *(".env", ".config/anything", ".anything"),
    *(".cargo/unknown", ".npm-global/unknown", ".bun/unknown", ".deno/unknown", ".local/share/unknown", "go/unknown"),
)


GIT_SETTINGS = {
    "user.name": "Ann",
    "user.email": "ann@example.org",
    "init.defaultBranch": "main",
    "filter.lfs.clean": "git-lfs clean -- %f",
    "core.excludesFile": 'odd "\\ \t# ; text',
}
GIT_SECRETS = {
    "url.https://ann:hush@example.org/.insteadOf": "https://example.org/",
    "http.https://example.org/.extraHeader": "Authorization: hush",
    "http.proxy": "http://ann:hush@proxy:3128",
    "credential.helper": "!echo password=hush",
    "alias.up": "!curl -H 'hush' https://example.org",
    "github.token": "hush",
    "sendemail.smtpPass": "hush",
    "core.gitProxy": "https://ann:hush@example.org",
    "user.token": "hush",
    "init.templateDir": "ghp_hushhushhushhushhushhushhush",
}


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("file", [".gitconfig", ".config/git/config"])
def test_gits_settings_are_there_without_the_secrets_among_them(
    tmp_path: Path, sandboxed: None, file: str, shown: bool
) -> None:
    yard = Yard(tmp_path, **({"reads": [tmp_path / "home"]} if shown else {}))
    place = yard.home / file
    place.parent.mkdir(parents=True, exist_ok=True)
    for key, value in (GIT_SETTINGS | GIT_SECRETS).items():
        git(yard.home, "config", "--file", str(place), key, value)
    said = yard.run(
        "".join(f"git config --get '{key}'; " for key in GIT_SETTINGS)
        + f"cat ~/.gitconfig ~/.config/git/config; echo evil >>{place}; grep -rhs hush {place.parent}"
    )
    for value in GIT_SETTINGS.values():
        assert value in said
    assert "hush" not in said + yard.run("git config --list")
    assert "evil" not in place.read_text()


def test_who_may_only_look_changes_nothing_in_the_project(yard: Yard) -> None:
    assert "Read-only" in yard.run("echo a > made.txt", read_only=True)
    assert not (yard.project / "made.txt").exists()


def test_more_may_be_shown_and_written_where_the_coordinators_file_says_so(tmp_path: Path, sandboxed: None) -> None:
    yard = Yard(tmp_path, reads=[tmp_path / "other"], writes=[tmp_path / "cache"])
    (tmp_path / "cache").mkdir()
    said = yard.run(f"cat {tmp_path}/other/notes.txt; echo a > {tmp_path}/other/x; echo b > {tmp_path}/cache/x")
    assert "hush" in said
    assert not (tmp_path / "other" / "x").exists()
    assert (tmp_path / "cache" / "x").exists()


def test_a_copy_may_be_changed_and_the_original_stays(yard: Yard) -> None:
    own = yard.home / ".claude.json"
    own.write_text("{}")
    said = yard.run("cat ~/.claude.json; echo evil > ~/new; mv ~/new ~/.claude.json", needs=Needs(copies={own: own}))
    assert said == "{}"
    assert own.read_text() == "{}"


def test_what_is_shown_already_is_not_copied(tmp_path: Path, sandboxed: None) -> None:
    yard = Yard(tmp_path, reads=[tmp_path / "home" / "tool"])
    own = yard.home / "tool" / "settings"
    own.parent.mkdir()
    own.write_text("{}")
    assert yard.run("cat ~/tool/settings", needs=Needs(copies={own: own})) == "{}"


def test_temporary_files_are_the_programs_own(yard: Yard) -> None:
    name = f"toryo-test-{os.getpid()}"
    said = yard.run(f"for each in /tmp /var/tmp; do echo $each > $each/{name}; cat $each/{name}; done")
    assert said == "/tmp\n/var/tmp\n"
    assert not any(Path(each, name).exists() for each in ("/tmp", "/var/tmp"))


def test_files_of_the_system_that_not_every_user_may_read_are_hidden_from_root_as_well(yard: Yard) -> None:
    closed = [each for each in sandbox._unreadable(Path("/etc")) if each.is_file()]
    assert yard.run("".join(f"test -c {shlex.quote(str(each))} || echo {each}; " for each in closed)) == ""


def test_what_is_hidden_and_not_there_hinders_no_start(yard: Yard) -> None:
    yard.sandbox = Sandbox(Mode.BWRAP, hidden=[yard.data, yard.project / "not" / "there"], inherited=os.environ)
    assert yard.run("echo started") == "started\n"


def test_without_a_proxy_there_is_no_file_in_which_one_notes_hosts(yard: Yard) -> None:
    for limits in (None, Limits()):
        place = Place(yard.project, workspace=yard.workspace)
        walled = yard.sandbox.around(["/bin/true"], yard.environ, place, limits=limits, refusals=yard.data / "refused")
        walled.close()
        assert walled.refusals is None


# --- what agents leave for the next sandbox ---------------------------------------------------------------------------


def _executed(walled: sandbox.Walled) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            walled.argv,
            env=dict(walled.env),
            pass_fds=walled.keep,
            capture_output=True,
            text=True,
            timeout=BOUND,
            check=False,
        )
    finally:
        walled.close()


def _prepared(yard: Yard, *command: str) -> sandbox.Walled:
    return yard.sandbox.around(command, yard.environ, Place(yard.project, workspace=yard.workspace))


@pytest.mark.parametrize(
    "name", [".git/modules", ".git/worktrees", ".git/hooks", ".git/objects/info", ".git", ".toryo"]
)
@pytest.mark.parametrize("target", ["data", "project/elsewhere"])
def test_what_is_replaced_by_a_link_after_it_was_looked_at_is_not_mounted(yard: Yard, name: str, target: str) -> None:
    (yard.project / "elsewhere").mkdir()
    (yard.project / ".toryo").mkdir()
    walled = _prepared(yard, "/bin/sh", "-c", f"echo started; cat {name}/owner.token")
    place = yard.project / name
    place.rename(yard.project / "before")
    place.symlink_to(os.path.relpath(yard.home.parent / target, place.parent))
    done = _executed(walled)
    assert done.returncode != 0
    assert "hush" not in done.stdout
    assert "started" not in done.stdout


@pytest.mark.parametrize("name", ["modules", "worktrees", "hooks", "config", "commondir", "objects/info/alternates"])
def test_a_link_in_place_of_what_is_to_be_protected_stops_the_start(yard: Yard, name: str) -> None:
    place = yard.project / ".git" / name
    if place.exists():
        place.rename(yard.project / "before")
    place.symlink_to(yard.data)
    with pytest.raises(BadConfig, match="symbolic link"):
        _prepared(yard, "true")


def test_what_git_obeys_is_there_from_the_first_start_and_cannot_be_replaced(yard: Yard) -> None:
    names = ("config", "commondir", "hooks", "modules", "worktrees", "objects/info/alternates")
    took = "; ".join(f"mv .git/{name} taken && echo took; rm -rf .git/{name}; echo x > .git/{name}" for name in names)
    said = yard.run(f"{took}; mv .git/objects/info taken && echo took; mv .git/objects taken && echo took")
    assert "took" not in said
    assert (yard.project / ".git" / "commondir").read_text() == ".\n"
    assert (yard.project / ".git" / "objects" / "info" / "alternates").read_text() == ""
    assert not any(any((yard.project / ".git" / each).iterdir()) for each in ("modules", "worktrees"))


def test_what_the_first_start_makes_disturbs_no_git(yard: Yard) -> None:
    yard.run("true")
    git(yard.project, "worktree", "add", "--quiet", str(yard.home / "more"))
    git(yard.project, "gc", "--quiet")
    git(yard.project, "fsck", "--strict")
    git(yard.home / "more", "commit", "--quiet", "--allow-empty", "--message", "second")
    assert git(yard.project, "rev-parse", "--is-bare-repository") == "false"
    assert git(yard.project, "status", "--porcelain") == ""


def test_a_repository_that_leads_git_elsewhere_is_not_put_into_a_sandbox(yard: Yard) -> None:
    (yard.project / ".git" / "commondir").write_text("../evil\n")
    with pytest.raises(BadConfig, match="commondir"):
        _prepared(yard, "true")


def test_nothing_is_made_behind_a_link_of_an_agent(yard: Yard) -> None:
    (yard.project / ".git" / "objects").rename(yard.project / "objects")
    (yard.project / ".git" / "objects").symlink_to(yard.home)
    (yard.home / "info").mkdir()
    with pytest.raises(BadConfig, match="symbolic link"):
        _prepared(yard, "true")
    assert list((yard.home / "info").iterdir()) == []


@pytest.mark.parametrize("by_path", [True, False])
def test_a_program_that_agents_can_write_adds_nothing_to_what_is_seen(yard: Yard, by_path: bool) -> None:
    letter = yard.home / "private" / "letter.txt"
    letter.parent.mkdir()
    letter.write_text("hush")
    place = yard.project / ".v"
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").touch()
    (place / "bin" / "python").symlink_to(yard.home / "x" / "y")
    for name in ("look", "node"):
        (place / "bin" / name).write_text(f"#!/bin/sh\ncat {letter} {yard.home}/.ssh/*\n")
        (place / "bin" / name).chmod(0o755)
    yard.environ["PATH"] = f"{place / 'bin'}:{yard.environ['PATH']}"
    ran = _executed(_prepared(yard, ".v/bin/look" if by_path else "look"))
    assert "hush" not in ran.stdout
    assert str(letter) in ran.stderr, "it ran, and looked"


def test_a_directory_of_the_path_at_which_nobody_can_look_is_passed_over(yard: Yard) -> None:
    """Such as root's own, in the PATH of a user that root has started; here one whose name no disk can hold."""
    yard.environ["PATH"] = f"/{'x' * 300}:{yard.environ['PATH']}"
    assert yard.run("echo started") == "started\n"


@pytest.mark.parametrize("kind", ["program", "PATH"])
def test_a_link_of_an_agent_is_followed_nowhere(yard: Yard, kind: str) -> None:
    (yard.project / "bin").symlink_to(yard.home / ".ssh")
    if kind == "PATH":
        yard.environ["PATH"] = f"{yard.project / 'bin'}:{yard.environ['PATH']}"
    programs = (yard.project / "bin" / "id_ed25519",) if kind == "program" else ()
    said = yard.run(f"echo started; cat bin/* {yard.home}/.ssh/*", programs=programs)
    assert "started" in said
    assert "hush" not in said


def test_other_servers_data_is_hidden_wherever_it_is_shown(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(yard.home / "share"))
    other = yard.home / "share" / "toryo" / "projects" / "other" / "data" / "owner.token"
    other.parent.mkdir(parents=True)
    other.write_text("hush")
    mine = yard.home / "share" / "letter.txt"
    mine.write_text("hello")
    said = yard.run(f"cat {mine} {other}", project=yard.home / "share")
    assert "hello" in said
    assert "hush" not in said


@pytest.mark.parametrize("target", ["/usr", "../data", "../../../../../../../../usr", "nowhere"])
def test_a_link_in_place_of_the_projects_own_mark_stops_no_start(yard: Yard, target: str) -> None:
    (yard.project / ".toryo").symlink_to(target)
    said = yard.run("echo started; cat .toryo/owner.token; ls /usr")
    assert said.startswith("started")
    assert "hush" not in said
    assert "\nbin\n" in said


def test_the_program_that_makes_sandboxes_is_not_taken_from_a_project(
    tmp_path: Path, sandboxed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    found = sandbox.looked_for({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert found.program is not None
    assert Path(found.program).parent != tmp_path


# --- git --------------------------------------------------------------------------------------------------------------


def test_work_is_committed_and_what_git_would_run_for_others_stays_theirs(yard: Yard) -> None:
    before = (yard.project / ".git" / "config").read_text()
    said = yard.run(
        "echo a > a; git add a; git -c user.name=a -c user.email=a@example.org commit -qm work; "
        "git config core.fsmonitor evil; echo evil > .git/hooks/post-checkout; mv .git other; rm -rf .git/hooks"
    )
    assert git(yard.project, "log", "--format=%s") == "work\nfirst", said
    assert (yard.project / ".git" / "config").read_text() == before
    assert not (yard.project / ".git" / "hooks" / "post-checkout").exists()


def test_a_worktree_is_written_and_the_checkout_it_came_from_only_read(yard: Yard) -> None:
    worktree = worktrees.make(yard.project, yard.data / "worktrees" / "house", "tsk_1").path
    own = repository_of(worktree)
    before = (own / "config").read_bytes()
    said = yard.run(
        "echo a > a; git add a; git -c user.name=a -c user.email=a@example.org commit -qm work; echo evil > .git;"
        f"git config core.fsmonitor evil; echo evil >> {own}/config; echo evil > {own}/hooks/pre-commit;"
        f"echo {yard.data} > {own}/commondir; echo {yard.data} > {own}/objects/info/alternates;"
        f"echo evil > {worktree.parent}/.seen/tsk_1/index; mv {own} {own}.moved;"
        f"cd {yard.project}; echo x > x; echo evil > .git/refs/heads/main; cat {yard.data}/owner.token",
        worktree=worktree,
        directory=worktree,
    )
    assert git(worktree, "log", "--format=%s", "-1") == "work", said
    assert ((own / "config").read_bytes(), list((own / "hooks").iterdir())) == (before, [])
    assert (own / "objects" / "info" / "alternates").read_text() == f"{yard.project}/.git/objects\n"
    found = worktrees.find(yard.project, worktree.parent, "tsk_1")
    assert found is not None
    assert worktrees.keep(found, "m", "w1").trouble == ""
    assert not (yard.project / "x").exists()
    assert "hush" not in said


def test_work_is_committed_in_a_checkout_that_a_person_has_added_unless_it_is_only_looked_at(yard: Yard) -> None:
    added = yard.project.parent / "added"
    git(yard.project, "worktree", "add", "--quiet", "-b", "side", str(added))
    script = "echo a >> a; git add a; git -c user.name=a -c user.email=a@example.org commit -qm work"
    said = yard.run(script, project=added)
    assert git(yard.project, "log", "--format=%s", "side") == "work\nfirst", said
    yard.run(script, project=added, read_only=True)
    assert git(yard.project, "log", "--format=%s", "side") == "work\nfirst"


def test_a_forged_git_file_shows_nothing_that_was_hidden(yard: Yard) -> None:
    other = yard.home.parent / "plain"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {yard.home / '.ssh'}\n")
    said = yard.run(f"echo started; cat {yard.home}/.ssh/*", project=other)
    assert "started" in said
    assert "hush" not in said
    (other / ".git").unlink()
    (other / ".git").symlink_to(yard.home / ".ssh")
    said = yard.run(f"echo started; cat {yard.home}/.ssh/* .git/*", project=other)
    assert "started" in said
    assert "hush" not in said


# --- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limited", [False, True])
def test_no_setting_of_the_kernel_can_be_changed_whoever_the_user_is(yard: Yard, limited: bool) -> None:
    """Root's own files, where a Coordinator is root: the kernel runs what `core_pattern` says outside of everything."""
    said = yard.run(
        "find /proc/sys /proc/sysrq-trigger /proc/irq /proc/bus -type f -writable 2>/dev/null | head -n 3; "
        "for each in kernel/core_pattern vm/overcommit_memory; do (: >>/proc/sys/$each) && echo changed $each; done; "
        "cat /proc/sys/kernel/ostype; echo 0 >/proc/self/oom_score_adj && echo own",
        limits=Limits() if limited else None,
    )
    lines = [line for line in said.splitlines() if "cannot create" not in line and "denied" not in line]
    assert lines == ["Linux", "own"]


def test_it_has_no_capability_no_way_to_get_one_and_sees_no_process_but_its_own(yard: Yard) -> None:
    said = yard.run("grep -E 'CapEff|NoNewPrivs' /proc/self/status; ls -d /proc/[0-9]* | wc -l; ls -l /proc/1/fd")
    assert "CapEff:\t0000000000000000" in said
    assert "NoNewPrivs:\t1" in said
    assert int(said.splitlines()[2]) < 10
    assert str(yard.data) not in said


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _started(yard: Yard, script: str, output: Path) -> processes.Process:
    place = Place(yard.project, workspace=yard.workspace, server_url="http://x")
    walled = yard.sandbox.around(["/bin/sh", "-c", script], yard.environ, place)
    with output.open("wb") as file:
        return processes.start(
            walled.argv, cwd=yard.project, env=walled.env, output=file.fileno(), keep=walled.keep, sandboxed=True
        )


def _until_ended(process: processes.Process, then: Any = None) -> None:
    async def over() -> None:
        ended = asyncio.Event()
        process.watch(asyncio.get_running_loop(), ended.set)
        if then is not None:
            await asyncio.to_thread(then)
        await asyncio.wait_for(ended.wait(), BOUND)

    asyncio.run(over())


def test_who_is_interrupted_may_tidy_up_in_there_and_says_how_it_ended(yard: Yard) -> None:
    ready = yard.project / "ready"
    os.mkfifo(ready)
    script = "trap 'echo tidy > tidied; exit 7' INT; echo > ready; while :; do sleep 0.05; done"
    process = _started(yard, script, yard.project / "out")

    def interrupt() -> None:
        ready.read_text()
        process.signal_group(Stage.INTERRUPT)

    _until_ended(process, interrupt)
    assert (process.exit_code, process.signal) == (7, None)
    assert (yard.project / "tidied").exists()


def test_an_end_by_a_signal_is_told_as_one(yard: Yard) -> None:
    process = _started(yard, "kill -KILL $$", yard.project / "out")
    _until_ended(process)
    assert (process.exit_code, process.signal) == (None, signal.SIGKILL)


@pytest.mark.parametrize("code", [129, 130, 143])
def test_an_exit_code_of_the_programs_own_is_no_signal(yard: Yard, code: int) -> None:
    process = _started(yard, f"exit {code}", yard.project / "out")
    _until_ended(process)
    assert (process.exit_code, process.signal) == (code, None)


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_nothing_of_it_is_left_whatever_session_and_environment_that_has(yard: Yard, how: str) -> None:
    ready, go = yard.project / "ready", yard.project / "go"
    os.mkfifo(ready)
    os.mkfifo(go)
    left = f"env -i setsid /bin/sh -c 'echo > {ready}; exec sleep 3001'"
    process = _started(yard, f"{left} & read _ < go", yard.project / "out")
    ready.read_text()
    inside = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if b"3001" in _read(path)]

    def end() -> None:
        go.write_text("go\n") if how == "ends" else process.signal_group(Stage.KILL)

    _until_ended(process, end)
    assert len(inside) > 1
    assert all(gone(pid, 20) for pid in inside)


def test_without_network_nothing_is_reached_and_the_servers_socket_is_its_only_way(yard: Yard) -> None:
    said = yard.run("cat /proc/net/dev", server_url=f"unix://{yard.data}/toryo.sock", limits=Limits())
    assert [line.split(":")[0].strip() for line in said.splitlines()[2:]] == ["lo"]


# --- whether there is one ---------------------------------------------------------------------------------------------


def _launch(**options: Any) -> Launch:
    return Launch("lau_1", "ann", provider_options=options)


def _without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "looked_for", lambda _: Found(None, "bubblewrap (bwrap) is not installed"))


def test_where_there_is_none_auto_goes_without_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch)
    asked = Sandbox(Mode.AUTO, inherited={})
    assert not asked.wanted(_launch())
    assert "sandbox: off (bubblewrap (bwrap) is not installed)" in asked.told


@pytest.mark.parametrize(
    ("mode", "options"), [(Mode.BWRAP, {}), (Mode.AUTO, {"sandbox": "bwrap"}), (Mode.NONE, {"sandbox": "bwrap"})]
)
def test_who_requires_one_is_not_started_without(
    mode: Mode, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _without(monkeypatch)
    with pytest.raises(BadConfig, match="bubblewrap"):
        Sandbox(mode, inherited={}).wanted(_launch(**options))


@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.NONE])
def test_without_network_nothing_is_started_where_there_is_no_sandbox(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without(monkeypatch)
    with pytest.raises(BadConfig, match="sandbox_network: off"):
        Sandbox(mode, network=Network.OFF, inherited={}).wanted(_launch())
    with pytest.raises(BadConfig, match="sandbox_network: off"):
        Sandbox(mode, network=Network.OFF, inherited={}).needed()
    for asked in (False, "off"):
        with pytest.raises(BadConfig, match="sandbox_network: off"):
            Sandbox(mode, inherited={}).wanted(_launch(sandbox_network=asked))


def test_an_agent_may_ask_for_more_than_its_coordinator_and_never_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "looked_for", lambda _: Found("/usr/bin/bwrap"))
    off, on = Sandbox(Mode.NONE, inherited={}), Sandbox(Mode.AUTO, network=Network.OFF, inherited={})
    assert off.wanted(_launch(sandbox="bwrap"))
    assert not off.wanted(_launch())
    assert on.wanted(_launch(sandbox="auto"))
    assert on.wanted(_launch(sandbox="none"))
    for given, asked in ((True, on), ("off", Sandbox(Mode.AUTO, inherited={})), ("perhaps", on)):
        assert asked.network_of(_launch(sandbox_network=given)).network is Network.OFF


def test_the_mode_of_the_file_counts_before_that_of_the_environment() -> None:
    assert sandbox.default_mode("none", {"TORYO_SANDBOX": "bwrap"}) is Mode.NONE
    assert sandbox.default_mode(None, {"TORYO_SANDBOX": "bwrap"}) is Mode.BWRAP
    assert sandbox.default_mode(None, {}) is Mode.AUTO
    with pytest.raises(BadConfig, match="TORYO_SANDBOX"):
        sandbox.default_mode(None, {"TORYO_SANDBOX": "yes"})


def test_our_own_runners_start_in_there(yard: Yard) -> None:
    said = yard.run(f"'{sys.executable}' -P -c 'import toryo.agents.playbook; print(\"there\")'")
    assert said == "there\n"


@pytest.mark.parametrize("account", ["claude", "second", "third", "fourth"])
def test_a_program_sees_the_login_of_its_own_account_and_of_no_other(yard: Yard, account: str) -> None:
    """The second is within the directory of the first, the third in the project, and the fourth has a key only."""
    places = {
        "claude": yard.home / ".claude",
        "second": yard.home / ".claude" / "second",
        "third": yard.project / ".third",
    }
    for name, place in places.items():
        place.mkdir(parents=True)
        (place / ".credentials.json").write_text(f"login-of-{name} ")
    accounts = {each: {"env": {"CLAUDE_CONFIG_DIR": str(places[each])}} for each in ("second", "third")}
    accounts["fourth"] = {"env": {"ANTHROPIC_API_KEY": "key"}}
    config = Config.model_validate({"ai_providers": {"claude": {"accounts": accounts}}})
    script = "; ".join(f"cat {place}/.credentials.json" for place in places.values())
    claude = replace(
        configured(config.ai_providers)["claude"], prepare=lambda _: Command(("/bin/sh", "-c", f"({script}) 2>&1"))
    )
    starter = _starter(yard, yard.sandbox, config, {"claude": claude})
    launch = Launch("lau_1", "ann", ai_type="claude", account=account, working_directory=str(yard.project))
    _until_ended(starter.start(launch).process)
    told = logs.path_of(yard.data, "lau_1").read_text()
    own = "claude" if account == "fourth" else account
    assert [each for each in places if f"login-of-{each} " in told] == [own], told


# --- acceptance checks ------------------------------------------------------------------------------------------------


def _starter(
    yard: Yard, asked: Sandbox, config: Config | None = None, providers: Mapping[str, Provider] = BUILT_IN
) -> Starter:
    folder, spaces = yard.data / "worktrees", Workspaces(yard.data)
    config = config or Config()
    return Starter(config, providers, "http://x", "m", yard.data, spaces, folder, yard.environ, sandbox=asked)


def _check(yard: Yard, **options: Any) -> CheckOrder:
    return CheckOrder("chk_1", str(yard.project), (), "ann", ai_type="claude", provider_options=options)


def test_a_check_runs_in_the_sandbox_of_its_agent(yard: Yard) -> None:
    letter = yard.home / "letter.txt"
    letter.write_text("hush")
    words = ("/bin/sh", "-c", f"cat {letter}; grep -c : /proc/net/dev; touch {yard.project}/made")
    starter = _starter(yard, Sandbox(Mode.NONE, inherited=os.environ))
    order = _check(yard, sandbox="bwrap", sandbox_network=Network.OFF, permissions="read")
    done = _executed(starter.check_walled(order, yard.project)(words))
    assert done.stdout == "1\n", done
    assert not (yard.project / "made").exists()
    assert _executed(starter.check_walled(_check(yard, permissions="full"), yard.project)(words)).stdout[:4] == "hush"


def test_a_check_is_not_run_outside_where_its_agent_is_never_without_a_sandbox(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without(monkeypatch)
    starter = _starter(yard, Sandbox(Mode.AUTO, inherited={}))
    with pytest.raises(BadConfig, match="bubblewrap"):
        starter.check_walled(_check(yard, sandbox="bwrap"), yard.project)(["true"])
    with pytest.raises(BadConfig):
        starter.check_walled(_check(yard, sandbox="none"), yard.project)(["true"])


def test_a_check_that_fails_at_a_wall_of_its_sandbox_says_so_after_its_output_and_no_other(yard: Yard) -> None:
    wall = _starter(yard, yard.sandbox).check_walled(_check(yard), yard.project)
    without = _starter(yard, Sandbox(Mode.NONE, inherited=os.environ)).check_walled(_check(yard), yard.project)
    said = {}
    for script in ("touch /usr/made", f"cat {yard.secrets[0]}", "touch /usr/made || true", "cat nothing"):
        said[script] = asyncio.run(acceptance_checks.execute(script, BOUND, yard.project, wall)).output.splitlines()
    assert [each[-1:] == [sandbox_signs.MAYBE] for each in said.values()] == [True, True, False, False], said
    run = asyncio.run(acceptance_checks.execute("echo Read-only file system; exit 1", BOUND, yard.project, without))
    assert run.output == "Read-only file system"


@pytest.mark.parametrize("permissions", ["read", "edit"])
@pytest.mark.parametrize(("mode", "uid"), [(Mode.NONE, 0), (Mode.BWRAP, 0), (Mode.BWRAP, 1000)])
def test_codex_makes_no_sandbox_of_its_own_where_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, permissions: str, mode: Mode, uid: int
) -> None:
    """As root, a user namespace within ours is refused: each of its commands would fail."""
    monkeypatch.setattr("os.geteuid", lambda: uid)
    walls = Sandbox(mode, hidden=[], inherited=os.environ)
    spaces = Workspaces(tmp_path / "data")
    (tmp_path / "data").mkdir()
    starter = Starter(Config(), BUILT_IN, "http://x", "m", tmp_path, spaces, tmp_path, dict(os.environ), sandbox=walls)
    launch = Launch(
        "lch_1",
        "ann",
        ai_type="codex",
        working_directory=str(tmp_path),
        provider_options={"permissions": permissions},
        credential="toryo_launch",
    )
    words = " ".join(starter.prepared(launch).argv)
    own = {"read": "read-only", "edit": "workspace-write"}[permissions]
    if mode is Mode.BWRAP and uid == 0:
        assert "danger-full-access" in words and own not in words
    else:
        assert own in words and "danger-full-access" not in words
