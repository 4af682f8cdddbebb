"""A person's repository as Toryo's git sees it: its objects, branches and checkouts, and nothing of its configuration.

Agents write in worktrees, and some of them in the repository's `.git`, too. Git runs programs that the configuration
of a repository names (filters, merge drivers, hooks, fsmonitor …), so ours never reads it. It works with a directory of
its own in place of the repository's common directory (GIT_COMMON_DIR): links to what is data (objects, branches,
worktrees), a configuration with the format alone, and no hooks. Settings that are data (`SETTINGS`) are copied from the
repository. Programs come only from the configuration of the user and of the machine.

Which git directory belongs to a checkout is what the repository says (`worktrees/*/gitdir`), never what the `.git` of
a worktree says: that is a file of its agent.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from toryo import untrusted_files
from toryo.coordinator.worktrees.git import Git, Trouble, explain, require

SETTINGS = frozenset(
    {
        "core.attributesfile",
        "core.autocrlf",
        "core.bigfilethreshold",
        "core.checkroundtripencoding",
        "core.compression",
        "core.eol",
        "core.excludesfile",
        "core.filemode",
        "core.ignorecase",
        "core.logallrefupdates",
        "core.precomposeunicode",
        "core.sharedrepository",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "core.symlinks",
        "lfs.storage",
        "merge.directoryrenames",
        "merge.renamelimit",
        "merge.renames",
        "merge.renormalize",
    }
)
"""What is copied from the repository's configuration. No value of these is ever run."""
FORMAT = frozenset({"extensions.objectformat", "extensions.compatobjectformat", "extensions.refstorage"})
IRRELEVANT = frozenset(
    f"extensions.{each}"
    for each in ("noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees")
)
"""Extensions of the format that do not change how to read what is linked here."""
LINKS = ("HEAD", "objects", "packed-refs", "refs", "reftable", "logs", "worktrees", "shallow")
MADE_LATER = ("packed-refs", "worktrees")
INFO = ("attributes", "exclude")
ASKED = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
FILTERS = ("clean", "smudge", "process")
LARGEST = 1024 * 1024
"""Bytes of a configuration, or of another file of git's that is read here."""


@dataclass(frozen=True)
class Checkout:
    """The repository as the project sees it. `git` works in `top`."""

    git: Git
    top: Path
    subdirectory: str
    directory: Path
    """The git directory of this checkout."""
    common: Path
    """The one that all checkouts of the repository share."""
    config: Mapping[str, str]
    """What the repository's own configuration says. Data: nothing of it is run."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What is taken from it, as variables of git."""
    main: Path | None = None
    """Where the repository's main checkout is; None if it has none (`bare`), or if nothing here says where it is."""
    bare: bool = False

    def at(self, path: Path) -> Git | None:
        """Git in another checkout of the repository; None if the repository has none there."""
        directory = self.directory_of(path)
        if directory is None:
            return None
        return Git(path, {**self.git.variables, "GIT_DIR": str(directory), "GIT_WORK_TREE": str(path)}, self.git.needs)

    def directory_of(self, path: Path) -> Path | None:
        """The git directory of a checkout, as the repository has noted it. Raises Trouble where two claim it."""
        if path == self.main:
            return self.common
        found = self._noted(path)
        if len(found) > 1:
            raise Trouble(f"{self.common} has two worktrees at {path}. Remove the wrong one of {_named(found)}.")
        return found[0] if found else None

    def notes(self, path: Path) -> bool:
        """Whether the repository has a checkout there."""
        return path == self.main or bool(self._noted(path))

    def _noted(self, path: Path) -> list[Path]:
        return [each for each in _within(self.common / "worktrees") if _checkout_of(each) == path]

    def filters(self) -> list[str]:
        """The filters that only the repository's own configuration defines, and that do not run therefore."""
        wanted = {key.split(".", 1)[1].rpartition(".")[0] for key, value in self.config.items() if _defines(key, value)}
        return sorted(each for each in wanted if not self._defined_by_user(each))

    def _defined_by_user(self, name: str) -> bool:
        return any(self.git.holds("config", "--get", f"filter.{name}.{each}") for each in FILTERS)


_OPENED: ContextVar[dict[Path, Checkout] | None] = ContextVar("_OPENED", default=None)


@contextlib.contextmanager
def one_act() -> Iterator[None]:
    """Within it each repository is opened once. For what is done at one go: no program of an agent is waited for."""
    if _OPENED.get() is not None:
        yield
        return
    outside = _OPENED.set({})
    try:
        yield
    finally:
        _OPENED.reset(outside)


def open_checkout(repository: Path) -> Checkout:
    """Raises Trouble if no worktree can be made: no directory, no repository, a bare one, one without a commit."""
    opened = _OPENED.get()
    if opened is None:
        return _opened(repository)
    if repository not in opened:
        opened[repository] = _opened(repository)
    return opened[repository]


def _opened(repository: Path) -> Checkout:
    require()
    git = Git(repository)
    answer = git.ask("rev-parse", "--is-inside-work-tree", "--path-format=absolute", *ASKED)
    inside, *found = answer.text.split("\n")
    if inside == "false":
        raise Trouble(
            f"{repository} is a bare repository (or inside .git), which has no working files. Choose a checkout "
            "of it as the project's working directory, or set isolation to none."
        )
    if answer.code != 0 or len(found) != len(ASKED):
        words = answer.errors or "the path of the repository contains a line break"
        raise Trouble(explain(words, ("rev-parse",), repository))
    top, directory, common = Path(found[0]), Path(found[1]).resolve(), Path(found[2]).resolve()
    prefix = found[3].removesuffix("/")
    if git_directory_of((top / ".git").resolve()) != directory:
        raise Trouble(
            f"{top} is not the checkout of the repository {directory} (core.worktree in its configuration). "
            "Remove that setting, or set isolation to none."
        )
    _refuse_redirected(directory, common)
    _refuse_links(directory, common)
    config = of_main = _read(common / "config")
    if _is_on(config, "extensions.worktreeconfig"):
        of_main = {**config, **_read(common / "config.worktree")}
        config = {**config, **_read(directory / "config.worktree")}
    bare = directory != common and _is_on(of_main, "core.bare")
    main = top if directory == common else None if bare else _main_checkout(common, of_main)
    try:
        apart = _StandIn(common, config, common)
    except OSError as problem:
        raise Trouble(
            f"git needs a temporary directory and write access to {common}: {problem.strerror} "
            f"({problem.filename}). Free some space there, or grant access."
        ) from problem
    settings = _given({key: value for key, value in config.items() if key in SETTINGS})
    variables = {
        "GIT_DIR": str(directory),
        "GIT_COMMON_DIR": str(apart.path),
        "GIT_WORK_TREE": str(top),
        **settings,
    }
    checkout = Checkout(Git(top, variables, apart), top, prefix, directory, common, config, settings, main, bare)
    if not checkout.git.holds("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        raise Trouble(f"The repository {top} has no commit yet. Create a first commit there.")
    return checkout


def _is_on(config: Mapping[str, str], key: str) -> bool:
    return config.get(key, "false").lower() in ("true", "yes", "on", "1")


def _main_checkout(common: Path, config: Mapping[str, str]) -> Path | None:
    """The main checkout, as seen from another one. Only a directory whose `.git` is this repository is one: a guess
    would check files out into the git directory, hooks among them."""
    place = (common / config.get("core.worktree", "..")).resolve()
    return place if git_directory_of((place / ".git").resolve()) == common else None


def _refuse_redirected(directory: Path, common: Path) -> None:
    """A `commondir` leads git from a checkout to its repository, and nowhere else: agents may have written another."""
    if directory != common and directory.parent != common / "worktrees":
        raise Trouble(
            f"{directory / 'commondir'} points git to {common}, which is not the repository of that directory. "
            "It may have been written by an agent. Remove it, and check where it points before you use git there."
        )


def _refuse_links(directory: Path, common: Path, *more: str) -> None:
    """A symbolic link among objects or branches shows another repository's as this one's, and git waits for a named
    pipe. git makes neither. `more`: what else is looked at."""
    for folder in dict.fromkeys((directory, common)):
        for name in ("HEAD", "index", *LINKS, *more):
            found = _unfit_in(folder / name)
            if found is not None and found.is_symlink():
                raise Trouble(
                    f"{found} is a symbolic link, which git does not create and which may show files of another "
                    "repository. Replace it with the file or directory that it points to, or remove it."
                )
            if found is not None:
                raise Trouble(
                    f"{found} is neither a file nor a directory (but perhaps a named pipe), which git does not create "
                    "and for which it would wait. Remove it."
                )


def _unfit_in(path: Path) -> Path | None:
    if _is_unfit(path):
        return path
    for at, folders, names in os.walk(path):
        for name in (*folders, *names):
            found = Path(at, name)
            if _is_unfit(found):
                return found
    return None


def _is_unfit(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:  # gone meanwhile, or never there
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def git_directory_of(file: Path) -> Path | None:
    """The git directory that a `.git` is, or names; None if it is neither. Opens nothing but a short file."""
    try:
        if stat.S_ISDIR(file.lstat().st_mode):
            return file.resolve()
        words = content(file).decode()
    except (OSError, ValueError):
        return None
    target = words.removeprefix("gitdir: ").rstrip("\n")
    return None if target == words.rstrip("\n") else (file.parent / target).resolve()


def content(file: Path) -> bytes:
    """The contents of a regular file, no link, that is not too large: agents may have put anything there."""
    return untrusted_files.data(file, largest=LARGEST, nofollow=True)


def connect(path: Path, directory: Path) -> None:
    """Writes a worktree's `.git` over anything that is there, except a directory."""
    descriptor, draft = tempfile.mkstemp(prefix=".git-", dir=path)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"gitdir: {directory}\n")
    Path(draft).replace(path / ".git")


class _StandIn:
    """A directory in place of the common one; removed when no `Git` uses it."""

    def __init__(self, common: Path, config: Mapping[str, str], person: Path) -> None:
        """`person`: the repository that says which files are excluded, their attributes, and where history ends."""
        place = Path(tempfile.mkdtemp(prefix="toryo-git-"))
        weakref.finalize(self, _removed, place, os.getpid())
        self.path = place / ".git"
        (self.path / "info").mkdir(parents=True)
        (common / "logs").mkdir(exist_ok=True)
        for name in LINKS:
            source = person if name == "shallow" else common
            if name in MADE_LATER or os.path.lexists(source / name):
                (self.path / name).symlink_to(source / name)
        for name in INFO:
            if os.path.lexists(person / "info" / name):
                (self.path / "info" / name).symlink_to(person / "info" / name)
        (self.path / "config").write_text("\n".join([*formatted(config, common), ""]))


def _removed(place: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(place, ignore_errors=True)


def beside(checkout: Checkout, directory: Path, path: Path) -> Git:
    """Git in a checkout whose git directory is a repository of its own, beside that of the checkout. Settings, excluded
    files and attributes are those of the checkout: an agent writes in the other."""
    _refuse_links(directory, directory, "info", *(each.name for each in directory.glob("sharedindex.*")))
    stand_in = _StandIn(directory, files_only(checkout.config), checkout.common)
    variables = {"GIT_DIR": str(directory), "GIT_COMMON_DIR": str(stand_in.path), "GIT_WORK_TREE": str(path)}
    return Git(path, {**checkout.settings, **variables}, stand_in)


def files_only(config: Mapping[str, str]) -> Mapping[str, str]:
    """The same for a repository that Toryo makes: its refs are files, whatever those of the person's are."""
    return {key: value for key, value in config.items() if key != "extensions.refstorage"}


def formatted(config: Mapping[str, str], common: Path) -> list[str]:
    """The lines of a configuration that say how to read the repository's files, and nothing else."""
    extensions = {key: value for key, value in config.items() if key.startswith("extensions.")}
    unknown = sorted(set(extensions) - FORMAT - IRRELEVANT)
    if unknown:
        raise Trouble(
            f"The repository {common} uses {', '.join(unknown)}, which Toryo does not support. Set isolation to none."
        )
    wanted = {key.split(".")[1]: value for key, value in extensions.items() if key in FORMAT}
    lines = ["[core]", "\tbare = false", f"\trepositoryformatversion = {1 if wanted else 0}"]
    if wanted:
        lines.append("[extensions]")
    for key, value in wanted.items():
        if not value.isalnum():
            raise Trouble(f"The configuration of {common} is wrong: extensions.{key} is {value!r}.")
        lines.append(f"\t{key} = {value}")
    return lines


def _read(file: Path) -> Mapping[str, str]:
    """A configuration as data, without its includes. Raises Trouble if it cannot be read."""
    try:
        return _parsed(content(file.resolve()))
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise Trouble(f"{file} cannot be read: {problem.strerror or problem}.") from problem


@functools.lru_cache(maxsize=32)
def _parsed(found: bytes) -> Mapping[str, str]:
    """Keys as git writes them: all but what is between the dots in lower case. Of several values the last."""
    git = Git(Path("/"), {"GIT_DIR": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
    listed = git.must("config", "--file", "-", "--no-includes", "--null", "--list", given=os.fsdecode(found))
    pairs = (name.partition("\n") for name in listed.names)
    return {key: value if newline else "true" for key, newline, value in pairs}


def _given(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as git takes them from its environment."""
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _defines(key: str, value: str) -> bool:
    return bool(value) and key.startswith("filter.") and key.endswith(tuple(f".{each}" for each in FILTERS))


def _within(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _checkout_of(directory: Path) -> Path | None:
    """The checkout of this git directory, as git has recorded it."""
    try:
        words = os.fsdecode(content(directory / "gitdir")).rstrip("\n")
    except OSError:
        return None
    return Path(os.path.normpath(directory / words)).parent


def _named(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))
