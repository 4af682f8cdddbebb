"""The own directories of programs in a sandbox: whatever an agent writes there, only renewed tokens come back to its
user, and its session to itself. Real sandboxes, by bubblewrap.
"""

from __future__ import annotations

import fnmatch
import json
import os
import random
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.coordinator.test_sandbox import Yard
from tests.coordinator.test_tree_setup import starter
from tests.sandboxes import sandboxed
from toryo.coordinator import program_homes
from toryo.coordinator.orders import Launch
from toryo.coordinator.program_homes import ProgramHomes, renewed_login
from toryo.coordinator.provider import BadConfig, Needs, Own
from toryo.coordinator.providers import BUILT_IN

__all__ = ["sandboxed"]

PROGRAMS = ("claude", "codex", "copilot", "gemini", "opencode", "qwen")
INVENTORY: Mapping[str, tuple[str, ...]] = {
    "claude": (
        *(".credentials.json", ".claude.json", "settings.json", "settings.local.json", "remote-settings.json"),
        *("CLAUDE.md", "agents/a.md", "commands/a.md", "skills/a/SKILL.md", "plugins/config.json", "hooks/a.sh"),
        *("rules/a.md", "output-styles/a.md", "local/claude", "shell-snapshots/snapshot-bash-1.sh", "statusline.sh"),
        *("projects/-home-me/1.jsonl", "projects/-home-me/memory/MEMORY.md", "sessions/2.json", "ide/1.lock"),
        *("todos/1.json", "plans/a.md", "statsig/x", "history.jsonl", "backups/.claude.json.backup.1", "daemon/x"),
        *("session-env/1/hook.sh", "file-history/1/a", "keybindings.json", "workflows/a.js", "policy-limits.json"),
    ),
    "codex": (
        *("auth.json", "config.toml", ".env", "AGENTS.md", "AGENTS.override.md", "hooks.json", "hooks/a.sh"),
        *("prompts/a.md", "rules/default.rules", "skills/a/SKILL.md", "plugins/a/plugin.json", "managed_config.toml"),
        *("sessions/2026/11/29/rollout-1.jsonl", "archived_sessions/a.jsonl", "history.jsonl", "session_index.jsonl"),
        *("state_5.sqlite", "thread_history_1.sqlite", "memories_1.sqlite", "goals_1.sqlite", "queue_1.sqlite"),
        *("logs_2.sqlite", "installation_id", "version.json", "models_cache.json", "shell_snapshots/a.sh"),
        *("packages/standalone/current/bin/codex", "bin/codex", "log/codex-tui.log", "work.config.toml", "tmp/a"),
        *("memories/MEMORY.md", "vendor_imports/a", "themes/a.tmTheme", "environments.toml", ".sandbox_migration"),
    ),
    "copilot": (
        *("config.json", "settings.json", "mcp-config.json", "lsp-config.json", "copilot-instructions.md", "agents/a"),
        *("skills/a/SKILL.md", "hooks/a.json", "plugins/a", "installed-plugins/a/hooks.json", "pkg/universal/1/a.js"),
        *("session-state/1/events.jsonl", "session-state/1/workspace.yaml", "session-store.db", "logs/process-1.log"),
        *("permissions-config.json", "trusted-folders.json", "command-history-state.json", "ide/1.lock", "mcp-oauth/a"),
        *("settings.json.lock", "extensions/a/extension.mjs", "instructions/a.md"),
    ),
    "gemini": (
        *("settings.json", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json", ".env", "GEMINI.md"),
        *("trustedFolders.json", "commands/a.toml", "extensions/a/gemini-extension.json", "hooks/a.sh", "agents/a.md"),
        *("skills/a/SKILL.md", "policies/a.toml", "projects.json", "installation_id", "state.json", "memory.md"),
        *("tmp/house/chats/session-1.jsonl", "tmp/house/.project_root", "tmp/bin/rg", "history/house/.git/config"),
        *("mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json", "keybindings.json", "mcp-server-enablement.json"),
        *("extension_integrity.json", "acknowledgments/agents.json", "antigravity/mcp_config.json"),
    ),
    "opencode": (
        *("auth.json", "mcp-auth.json", "opencode.db", "opencode.db-wal", "storage/session/a.json", "log/opencode.log"),
        *("snapshot/1/config", "snapshot/1/hooks/post-checkout", "bin/rg", "plugin/a.ts", "tool-output/a", "repos/a"),
        *("project/a/storage/x.json", "worktree/a/.git", "node_modules/a/index.js", "package.json", "plugins/a.ts"),
    ),
    "qwen": (
        *("settings.json", "oauth_creds.json", ".env", "QWEN.md", "trustedFolders.json", "commands/a.toml", "agents/a"),
        *("extensions/a/qwen-extension.json", "extension-store/state.json", "hooks/a.sh", "skills/a/SKILL.md"),
        *("projects/-home-me/chats/1.jsonl", "projects/-home-me/memory/MEMORY.md", "tmp/1/chats/session.json"),
        *("installation_id", "usage_record.jsonl", "output-language.md", "mcp-oauth-tokens.json", "tmp/bin/rg"),
        *("source.json", "ide/1.lock", "memories/a.md", "locales/a.js", "channels/a.json", "scheduled_tasks.json"),
    ),
}
"""Everything that these programs are known to have there: seen in runs, or named by the programs themselves."""
LOGINS: Mapping[str, tuple[str, Any, Any]] = {
    "claude": (
        ".credentials.json",
        {"claudeAiOauth": {"accessToken": "a1", "refreshToken": "r1", "expiresAt": 1, "scopes": ["x"]}, "mcpOAuth": {}},
        {"claudeAiOauth": {"accessToken": "a2", "refreshToken": "r2", "expiresAt": 2, "scopes": ["x"]}, "mcpOAuth": {}},
    ),
    "codex": (
        "auth.json",
        {"OPENAI_API_KEY": None, "tokens": {"access_token": "a1", "account_id": "me"}, "last_refresh": "2026-11-01"},
        {"OPENAI_API_KEY": None, "tokens": {"access_token": "a2", "account_id": "me"}, "last_refresh": "2026-11-02"},
    ),
    "gemini": (
        "oauth_creds.json",
        {"access_token": "a1", "refresh_token": "r1", "expiry_date": 1, "scope": "s"},
        {"access_token": "a2", "refresh_token": "r1", "expiry_date": 2, "scope": "s"},
    ),
    "opencode": (
        "auth.json",
        {"house": {"type": "oauth", "access": "a1", "refresh": "r1", "expires": 1}, "key": {"type": "api", "key": "k"}},
        {"house": {"type": "oauth", "access": "a2", "refresh": "r2", "expires": 2}, "key": {"type": "api", "key": "k"}},
    ),
    "qwen": (
        "oauth_creds.json",
        {"access_token": "a1", "refresh_token": "r1", "expiry_date": 1, "resource_url": "portal.example"},
        {"access_token": "a2", "refresh_token": "r2", "expiry_date": 2, "resource_url": "portal.example"},
    ),
}
"""Of each program whose tokens are renewed: the file, before and after."""


@pytest.fixture
def yard(tmp_path: Path, sandboxed: None) -> Yard:
    return Yard(tmp_path)


def needs_of(yard: Yard, name: str) -> Needs:
    found = BUILT_IN[name].needs
    assert found is not None
    return found(yard.environ)


def logged_in(yard: Yard, name: str) -> tuple[Path, str]:
    """Its login file, and the text of a renewed one."""
    file, before, after = LOGINS[name]
    path = needs_of(yard, name).own[0].place / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(before))
    return path, json.dumps(after)


def tree(top: Path) -> dict[str, str]:
    return {
        str(path.relative_to(top)): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in sorted(top.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def names(seed: str) -> list[str]:
    """Paths that nobody has thought of."""
    chance = random.Random(seed)
    word = lambda: "".join(chance.choices("abcXYZ019._-", k=chance.randint(1, 9))).strip(".") or "x"  # noqa: E731
    return ["/".join(word() for _ in range(chance.randint(1, 3))) for _ in range(40)]


ATTEMPTS = """
import contextlib, json, os, sys
written = 0
for path in json.load(open(sys.argv[1])):
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    for mode in ("a", "w"):
        with contextlib.suppress(OSError), open(path, mode) as file:
            file.write("evil")
    with contextlib.suppress(OSError):
        open(path + ".new", "w").write("evil")
        os.replace(path + ".new", path)
    with contextlib.suppress(OSError):
        os.symlink("/etc/passwd", path + ".link")
    with contextlib.suppress(OSError):
        written += "evil" in open(path).read()
print(written)
"""
"""Writes to all of these paths in every way, and tells at how many it stands there now."""


@pytest.mark.parametrize("there", [True, False], ids=["all-there", "nothing-there"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_that_an_agent_writes_into_a_programs_directory_is_there_for_its_user(
    yard: Yard, name: str, there: bool
) -> None:
    needs = needs_of(yard, name)
    paths = [own.place / each for own in needs.own for each in (*INVENTORY[name], *names(name))]
    for path in paths if there else []:
        if not path.is_dir() and not any(each.is_file() for each in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}" if path.suffix == ".json" else "theirs\n")
    if name in LOGINS and there:
        logged_in(yard, name)
    yard.run("true", needs=needs)
    before = tree(yard.home)
    (yard.workspace / "attempts.py").write_text(ATTEMPTS)
    (yard.workspace / "paths.json").write_text(json.dumps([str(path) for path in paths]))
    said = yard.run(f"'{sys.executable}' -S {yard.workspace}/attempts.py {yard.workspace}/paths.json", needs=needs)
    yard.homes.keep("lau_1", "session-1")
    assert int(said) > len(paths) / 2, "most of it could be written in there"
    assert tree(yard.home) == before


def test_settings_behind_a_persons_links_are_shown_and_stay_as_they_are(yard: Yard) -> None:
    real = yard.home / "dotfiles" / "claude"
    real.mkdir(parents=True)
    (yard.home / ".claude").symlink_to(real)
    (yard.home / "dotfiles" / "claude.json").write_text("{1}")
    (real / "settings.json").symlink_to(yard.home / "dotfiles" / "claude.json")
    (real / "agents").mkdir()
    (real / "agents" / "a.md").write_text("mine")
    before = tree(yard.home)
    where = f"~/.claude/settings.json {real}/settings.json"
    said = yard.run(
        f"cat {where} ~/.claude/agents/a.md; for each in {where} ~/.claude/x {real}/y ~/.claude/agents/b.md; do"
        " echo evil >$each; echo evil >$each.new; mv $each.new $each; done",
        needs=needs_of(yard, "claude"),
    )
    assert said.startswith("{1}{1}mine")
    assert tree(yard.home) == before


@pytest.mark.parametrize("name", ["settings.json", "agents", ".credentials.json", ".claude.json", "."])
def test_a_directory_in_the_project_shows_nothing_behind_a_link_of_an_agent(yard: Yard, name: str) -> None:
    """An account whose directory is where agents write."""
    place = yard.project / "deep" / ".claude"
    (place if name != "." else place.parent).mkdir(parents=True)
    (place / name if name != "." else place).symlink_to(
        yard.home / ".ssh" / ("" if name in ("agents", ".") else "id_ed25519")
    )
    found = BUILT_IN["claude"].needs
    assert found is not None
    needs = found({**yard.environ, "CLAUDE_CONFIG_DIR": str(place)})
    try:
        said = yard.run(f"cat {place}/* {place}/.c* {place}/agents/*", needs=needs)
    except BadConfig as refused:
        said = str(refused)
        assert "symbolic link" in said
    assert "hush" not in said


def test_a_directory_in_the_project_cannot_be_moved_away_to_write_the_real_one(yard: Yard) -> None:
    place = yard.project / "deep" / ".claude"
    place.mkdir(parents=True)
    found = BUILT_IN["claude"].needs
    assert found is not None
    needs = found({**yard.environ, "CLAUDE_CONFIG_DIR": str(place)})
    said = yard.run(
        f"mv deep moved; mv {place} moved; echo evil >{place}/x; mkdir -p {place}; echo evil >{place}/y; cat {place}/x",
        needs=needs,
    )
    assert "evil\n" in said
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_that_is_renewed_by_a_rename_is_that_of_the_next_start_too(yard: Yard, name: str) -> None:
    path, after = logged_in(yard, name)
    path.chmod(0o640)
    needs = needs_of(yard, name)
    said = yard.run(f"cat {path}; echo '{after}' >{path}.tmp && mv {path}.tmp {path}; echo $?", needs=needs)
    yard.homes.keep("lau_1", None)
    assert said == f"{json.dumps(LOGINS[name][1])}0\n"
    assert json.loads(path.read_text()) == json.loads(after)
    assert path.stat().st_mode & 0o777 == 0o640
    assert json.loads(yard.run(f"cat {path}", needs=needs)) == json.loads(after)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_login_that_replaces_a_link_of_the_launchs_directory_is_taken_over(yard: Yard) -> None:
    """Gemini CLI has its home in the launch's directory, with links to the real one."""
    path, after = logged_in(yard, "gemini")
    link = yard.workspace / "oauth_creds.json"
    link.symlink_to(path)
    homes = ProgramHomes(yard.data / "workspaces")
    homes.make(yard.launch, needs_of(yard, "gemini").own, None, links={str(link): path})
    (yard.workspace / "new").write_text(after)
    (yard.workspace / "new").rename(link)
    homes.keep("lau_1", None)
    assert json.loads(path.read_text()) == json.loads(after)


def changed(login: Any, way: str) -> str:
    """A login as an agent could leave it."""
    match way:
        case "not-json":
            return "evil"
        case "a-list":
            return json.dumps([login])
        case "one-more-key":
            return json.dumps({**login, "evil": "https://evil.example"})
        case "one-less-key":
            return json.dumps({name: value for name, value in login.items() if name != min(login)})
        case "deep":
            return "[" * 100_000
        case "large":
            return json.dumps(login) + " " * 2_000_000
    return ""


@pytest.mark.parametrize("way", ["not-json", "a-list", "one-more-key", "one-less-key", "deep", "large", "empty"])
@pytest.mark.parametrize("name", LOGINS)
def test_a_login_with_anything_but_renewed_tokens_is_dropped(tmp_path: Path, name: str, way: str) -> None:
    own = Own(tmp_path / "own", logins=_own_of(name, tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS[name]
    (own.place / file).write_text(json.dumps(before))
    homes = ProgramHomes(tmp_path / "workspaces")
    inside = homes.make(Launch("lau_1", "ann"), [own], None)[own.place]
    (inside / file).write_text(changed(after, way))
    homes.keep("lau_1", None)
    assert (own.place / file).read_text() == json.dumps(before)


def _own_of(name: str, home: Path) -> Own:
    found = BUILT_IN[name].needs
    assert found is not None
    return found({"HOME": str(home)}).own[0]


@pytest.mark.parametrize("name", LOGINS)
def test_every_value_of_a_login_but_the_declared_tokens_is_fixed(name: str, tmp_path: Path) -> None:
    own = _own_of(name, tmp_path)
    file, before, after = LOGINS[name]
    keys = own.logins[file]
    assert renewed_login(json.dumps(before), json.dumps(after), keys) is not None

    def leaves(value: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
        if not isinstance(value, dict) or not value:
            return [at]
        return [leaf for key, each in value.items() for leaf in leaves(each, (*at, key))]

    for leaf in leaves(before):
        for value in ("\x1b[31m", "x" * 20_000, ["a"], {"a": "b"}, None, True, "other"):
            evil = json.loads(json.dumps(after))
            at = evil
            for key in leaf[:-1]:
                at = at[key]
            at[leaf[-1]] = value
            told = renewed_login(json.dumps(before), json.dumps(evil), keys)
            token = any(fnmatch.fnmatchcase(".".join(leaf), key) for key in keys)
            text = isinstance(_at(before, leaf), str)
            unchanged = type(_at(before, leaf)) is type(value) and _at(before, leaf) == value
            assert (told is not None) == ((token and text and value == "other") or unchanged), (leaf, value)


def _at(value: Any, leaf: tuple[str, ...]) -> Any:
    for key in leaf:
        value = value[key]
    return value


@pytest.mark.parametrize("kind", ["link", "hard-link", "pipe", "directory", "missing"])
def test_only_a_plain_file_is_taken_for_a_login(tmp_path: Path, kind: str) -> None:
    own = Own(tmp_path / "own", logins=_own_of("codex", tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS["codex"]
    (own.place / file).write_text(json.dumps(before))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / file).write_text(json.dumps(after))
    homes = ProgramHomes(tmp_path / "workspaces")
    inside = homes.make(Launch("lau_1", "ann"), [own], None)[own.place]
    (inside / file).unlink()
    match kind:
        case "link":
            (inside / file).symlink_to(tmp_path / "elsewhere" / file)
        case "pipe":
            os.mkfifo(inside / file)
        case "directory":
            (inside / file).mkdir()
        case "hard-link":
            os.link(tmp_path / "elsewhere" / file, inside / file)
    homes.keep("lau_1", None)
    taken = after if kind == "hard-link" else before  # an agent cannot make one to a file that it cannot write
    assert json.loads((own.place / file).read_text()) == taken
    assert json.loads((tmp_path / "elsewhere" / file).read_text()) == after


def test_a_login_that_its_user_renews_meanwhile_counts_and_a_running_launch_gets_it(tmp_path: Path) -> None:
    own = Own(tmp_path / "own", logins=_own_of("codex", tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS["codex"]
    newest = {**after, "last_refresh": "2026-11-03"}
    (own.place / file).write_text(json.dumps(before))
    homes = ProgramHomes(tmp_path / "workspaces")
    inside = homes.make(Launch("lau_1", "ann"), [own], None)[own.place]
    (own.place / file).write_text(json.dumps(newest))
    (inside / file).write_text(json.dumps(after))
    homes.share_logins("lau_1")
    assert json.loads((inside / file).read_text()) == newest
    (inside / file).write_text(json.dumps({**newest, "last_refresh": "2026-11-04"}))
    (own.place / file).unlink()
    homes.keep("lau_1", None)
    assert not (own.place / file).exists(), "who has logged out stays logged out"


def test_two_launches_at_once_have_the_login_that_either_renewed(tmp_path: Path) -> None:
    own = Own(tmp_path / "own", logins=_own_of("codex", tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS["codex"]
    (own.place / file).write_text(json.dumps(before))
    homes = ProgramHomes(tmp_path / "workspaces")
    one, two = (homes.make(Launch(each, "ann"), [own], None)[own.place] for each in ("lau_1", "lau_2"))
    for turn, each in enumerate((one, two, one, two)):
        renewed = {**after, "last_refresh": f"turn {turn}"}
        (each / "new").write_text(json.dumps(renewed))
        (each / "new").rename(each / file)
        homes.share_logins("lau_1")
        homes.share_logins("lau_2")
        homes.share_logins("lau_1")
        assert [json.loads((place / file).read_text()) for place in (one, two, own.place)] == [renewed] * 3


def test_a_later_coordinator_takes_over_the_login_of_a_launch_it_has_not_started(tmp_path: Path) -> None:
    own = Own(tmp_path / "own", logins=_own_of("codex", tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS["codex"]
    (own.place / file).write_text(json.dumps(before))
    inside = ProgramHomes(tmp_path / "workspaces").make(Launch("lau_1", "ann"), [own], None)[own.place]
    (inside / file).write_text(json.dumps(after))
    ProgramHomes(tmp_path / "workspaces").keep("lau_1", None)
    assert json.loads((own.place / file).read_text()) == after


def test_a_later_coordinator_takes_over_what_is_renewed_after_the_earlier_one_has_taken_over_a_login(
    tmp_path: Path,
) -> None:
    own = Own(tmp_path / "own", logins=_own_of("codex", tmp_path).logins)
    own.place.mkdir()
    file, before, after = LOGINS["codex"]
    (own.place / file).write_text(json.dumps(before))
    earlier = ProgramHomes(tmp_path / "workspaces")
    inside = earlier.make(Launch("lau_1", "ann"), [own], None)[own.place]
    (inside / file).write_text(json.dumps(after))
    earlier.share_logins("lau_1")
    newest = {**after, "last_refresh": "2026-11-03"}
    (inside / file).write_text(json.dumps(newest))
    ProgramHomes(tmp_path / "workspaces").share_logins("lau_1")
    assert json.loads((own.place / file).read_text()) == newest


def test_the_letters_of_a_login_stay_as_its_user_has_them() -> None:
    renewed = renewed_login('{"name": "棟梁", "token": "a"}', '{"name": "棟梁", "token": "b"}', ["token"])
    assert renewed is not None
    assert "棟梁" in renewed


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_that_its_program_would_not_find_in_the_sandbox_is_not_gone_on_with(tmp_path: Path) -> None:
    launch = Launch("lau_1", "ann", ai_type="claude", program_session={"id": "s1"})
    with_its_session = starter(tmp_path / "worktrees")._with_its_session
    assert with_its_session(launch, inside=True).program_session == {}
    assert with_its_session(launch, inside=False) == launch


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_session_is_there_for_its_agent_when_it_is_resumed_and_for_nobody_else(yard: Yard, name: str) -> None:
    needs, launch = needs_of(yard, name), replace(yard.launch, ai_type=name)
    files = {
        "claude": "projects/-p/session-1.jsonl",
        "codex": "sessions/2026/11/29/rollout-session-1.jsonl",
        "copilot": "session-state/session-1/events.jsonl",
        "gemini": "tmp/house/chats/session-1.jsonl",
        "opencode": "opencode.db",
        "qwen": "projects/-p/chats/session-1.jsonl",
    }
    own = needs.own[0]
    path = own.place / files[name]
    read = f"cat {path}"
    for session in (None, "session-1"):
        homes = yard.homes.make(launch, needs.own, session)
        yard.run(f"mkdir -p {path.parent}; echo said >{path}; echo x >{own.place}/dropped", needs=needs, homes=homes)
        yard.homes.keep("lau_1", "session-1")
    assert yard.homes.has_session(launch, "session-1")
    assert not path.exists()
    resumed = yard.homes.make(launch, needs.own, "session-1")
    assert yard.run(f"{read}; ls {own.place}", needs=needs, homes=resumed).startswith("said\n")
    assert not (resumed[own.place] / "dropped").exists()
    for other, session in ((launch, None), (launch, "session-2"), (replace(launch, agent_id="bob"), "session-1")):
        assert "said" not in yard.run(read, needs=needs, homes=yard.homes.make(other, needs.own, session))


@pytest.mark.parametrize("kind", ["link", "hard-link", "folder-link"])
def test_no_link_becomes_part_of_a_session(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secrets" / "key"
    secret.parent.mkdir()
    secret.write_text("hush")
    own = Own(tmp_path / "own", sessions=("s/*",))
    homes, launch = ProgramHomes(tmp_path / "workspaces"), Launch("lau_1", "ann")
    inside = homes.make(launch, [own], None)[own.place]
    if kind == "folder-link":
        (inside / "s").symlink_to(secret.parent)
    else:
        (inside / "s").mkdir()
        (inside / "s" / "key").symlink_to(secret) if kind == "link" else os.link(secret, inside / "s" / "key")
    homes.keep("lau_1", "session-1")
    again = homes.make(launch, [own], "session-1")[own.place]
    assert [path for path in again.rglob("*") if path.is_file() or path.is_symlink()] == []
    assert secret.read_text() == "hush"


def test_a_session_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_homes, "MOST_FILES", 3)
    own = Own(tmp_path / "own", sessions=("*",))
    homes, launch = ProgramHomes(tmp_path / "workspaces"), Launch("lau_1", "ann")
    inside = homes.make(launch, [own], None)[own.place]
    for number in range(5):
        (inside / str(number)).write_text("x")
    homes.keep("lau_1", "session-1")
    assert not homes.has_session(launch, "session-1")
    assert list((tmp_path / "workspaces").rglob("*")) == [tmp_path / "workspaces" / ".sessions"]


def test_a_name_that_is_no_session_keeps_nothing(tmp_path: Path) -> None:
    own = Own(tmp_path / "own", sessions=("*",))
    homes, launch = ProgramHomes(tmp_path / "workspaces"), Launch("lau_1", "ann")
    inside = homes.make(launch, [own], None)[own.place]
    (inside / "a").write_text("x")
    homes.keep("lau_1", "../../etc")
    assert not homes.has_session(launch, "../../etc")


def test_sessions_that_nobody_resumes_are_forgotten(tmp_path: Path) -> None:
    own = Own(tmp_path / "own", sessions=("*",))
    homes = ProgramHomes(tmp_path / "workspaces")
    for agent in ("ann", "bob"):
        (homes.make(Launch("lau_1", agent), [own], None)[own.place] / "a").write_text("x")
        homes.keep("lau_1", "session-1")
    long_ago, _ = (tmp_path / "workspaces" / ".sessions").iterdir()
    os.utime(long_ago, (0, 0))
    homes.forget_older_than(7)
    assert [homes.has_session(Launch("lau_1", each), "session-1") for each in ("ann", "bob")].count(True) == 1
