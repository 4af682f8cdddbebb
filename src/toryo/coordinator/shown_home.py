"""What every program in a sandbox sees of its user's home: installed programs, and git's settings without secrets.

An allow-list: the home is empty otherwise, but for what the program itself needs (`Needs`). `SECRETS` is for the rest:
where somebody shows more (`sandbox_read`, a project such as `~/.config`), these stay hidden.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from toryo import secret_patterns

TOOLS = (
    *(".pyenv", ".rbenv", ".nvm", ".asdf", ".volta", ".sdkman", ".rustup", ".nix-profile", ".bun/bin", ".bun/install"),
    *(".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".deno/bin", ".npm-global/bin", ".npm-global/lib"),
    *(".local/bin", ".local/lib", ".local/share/mise", ".local/share/fnm", ".local/share/pnpm"),
    *(".local/share/uv/python", ".local/share/uv/tools", ".local/share/pipx/venvs", "go/bin"),
    *(".config/git/ignore", ".config/git/attributes"),
)
"""Paths with installed programs, without the settings of package managers, which may contain tokens. Read-only."""
_SETTINGS_AMONG_TOOLS = (
    *(".nvm/versions/node/*/etc", ".volta/tools/image/node/*/etc", ".asdf/installs/nodejs/*/etc"),
    *(".asdf/installs/nodejs/*/.npm/etc", ".local/share/mise/installs/node/*/etc"),
    *(".local/share/fnm/node-versions/*/installation/etc", ".local/share/pnpm/nodejs/*/etc", ".rbenv/versions/*/etc"),
    *(".pyenv/versions/*/pip.conf", ".pyenv/versions/*/envs/*/pip.conf", ".local/share/pipx/venvs/*/pip.conf"),
    *(".local/share/uv/tools/*/pip.conf", ".local/share/pnpm/rc", ".asdf/installs/python/*/pip.conf"),
    *(".local/share/mise/installs/python/*/pip.conf", ".bun/install/global/.npmrc", ".bun/install/global/bunfig.toml"),
    *(".local/lib/node_modules/npm/npmrc", ".npm-global/lib/node_modules/npm/npmrc"),
)
"""Settings of package managers within these. Hidden."""
SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gh", ".config/gcloud", ".config/op"),
    *(".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".pgpass", ".vault-token"),
    *(".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".cargo/credentials", ".my.cnf"),
    *(".cargo/credentials.toml", ".cargo/config", ".cargo/config.toml", ".npm-global/etc", ".config/pnpm", ".yarnrc"),
    *(".yarnrc.yml", ".bunfig.toml", ".config/pip", ".pip", ".config/uv", ".m2", ".gradle", ".gem", ".bundle"),
    *(".local/share/gem/credentials", ".composer", ".config/composer", ".config/hub", ".config/glab-cli", ".nuget"),
    *(".terraform.d", ".terraformrc", ".config/rclone", ".s3cfg", ".boto", ".config/containers", ".databrickscfg"),
    *(".huggingface", ".cache/huggingface/token", ".kaggle", ".config/doctl", ".fly", ".config/sops", ".age"),
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"),
    *(".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".bash_history", ".zsh_history"),
    *(".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".local/share/fish"),
    *("snap", ".var/app", ".config/systemd", ".config/autostart", ".bashrc", ".bash_profile", ".profile", ".zshrc"),
    *(".bash_login", ".zshenv", ".zprofile", ".zlogin"),
)
"""Paths that are hidden even where a project (or a configured path) contains them."""
_GIT_FILES = (".gitconfig", ".config/git/config")
_GIT_SECTIONS = frozenset(
    {
        *("advice", "apply", "author", "blame", "branch", "color", "column", "commit", "committer", "core", "diff"),
        *("feature", "fetch", "filter", "format", "gc", "grep", "i18n", "index", "init", "lfs", "log", "merge"),
        *("protocol", "pull", "push", "rebase", "rerere", "safe", "stash", "status", "submodule", "tag", "user"),
    }
)
"""Nothing of these is a login. Addresses (`url`, `http`, `remote`), helpers and aliases may contain one."""
_SECRET = re.compile(rf"{secret_patterns.LOOKS}|://[^/\s]*@|(?:password|passwd|token|secret)\S*[=:]", re.IGNORECASE)
_GIT_WITHIN = 5.0


def hidden(home: Path) -> Iterator[Path]:
    """What there is of it."""
    for name in SECRETS:
        if os.path.lexists(f"{home}/{name}"):
            yield home / name
    for pattern in _SETTINGS_AMONG_TOOLS:
        if os.path.lexists(f"{home}/{pattern.partition('/*')[0]}"):  # a pattern costs ten times as much
            yield from home.glob(pattern)


def homes(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The home in an environment, and the one that the machine knows for this user."""
    found = [environ["HOME"]] if environ.get("HOME") else []
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return tuple(Path(each).expanduser().resolve() for each in found if each not in ("", "/"))


def contains_home(directory: Path, environ: Mapping[str, str]) -> bool:
    return any(home.is_relative_to(directory) for home in homes(environ))


def git_settings(home: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """The files with the user's settings of git, and what a program sees of each."""
    for name in _GIT_FILES:
        path = home / name
        with contextlib.suppress(OSError):
            facts = path.stat()
            yield path, _without_secrets(path, environ.get("PATH", os.defpath), facts.st_mtime_ns, facts.st_size)


@functools.lru_cache(maxsize=64)
def _without_secrets(path: Path, search: str, changed: int, size: int) -> str:
    del changed, size  # they are only a part of the key
    try:
        done = subprocess.run(
            ("git", "config", "--file", str(path), "--list", "-z", "--no-includes"),
            cwd="/",
            env={"PATH": search, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_WITHIN,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return "".join(_setting(*each.partition("\n")) for each in done.stdout.split("\0") if each)


def _setting(key: str, equals: str, value: str) -> str:
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    if section not in _GIT_SECTIONS or _SECRET.search(f"{key}={value}"):
        return ""
    heading = f'[{section} "{_escaped(subsection)}"]' if subsection else f"[{section}]"
    return f'{heading}\n\t{name} = "{_escaped(value)}"\n' if equals else f"{heading}\n\t{name}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
