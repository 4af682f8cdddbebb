"""The teams that `toryo init` writes: a toryo.yaml for a crew of models, for equal workers, and for an agent without a
model.

Only text is made here. What is asked and where it is written is init_apply.py; what the keys mean is manifest.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toryo import chosen_ids

FILE = "toryo.yaml"
RESULT = "TOUR.md"
TITLE = "A tour of this directory"
WORKER = "w"
"""What equal workers are called: w-1, w-2 …"""

_HEAD = """\
# A team; `toryo apply {file}` creates or updates everything below; run it again after each change.
# An unknown key is answered with the valid ones; docs/reference/manifest.md in Toryo's source explains them all.

projects:
  - id: {id}
    name: {name}
    directory: .
    settings:
      start: when_ready           # tasks in todo start by themselves, one after the other for each agent
{settings}
"""

_OF_ALL_MODELS = """\
      decomposition: optional     # workers do small tasks whole: fewer tokens
      budget_per_day: 5           # US dollars, of programs that tell their cost or have prices
      tokens_per_day: 20000000    # input and output, of all programs; agents stop when either is used up"""

_WITHOUT_MODEL = """
agents:
  # Runs the command of its task: tests, linters, builds.
  - id: runner
    role: worker
    provider: command
    projects: [{id}]

tasks:
  - project: {id}
    title: {title}
    assignee: runner
    status: backlog               # `toryo task move TASK in_progress` starts it
    context:
      command: {command}
"""

_EQUAL = """
agents:{workers}

# `toryo task add TITLE --assignee any` files a task for the first of them that is free. Here you can list tasks, too:
# tasks:
#   - {{project: {id}, title: First, assignee: any, {work}}}
#   - {{project: {id}, title: Second, assignee: any, depends_on: [First], {work}}}
"""

_WORKER = """
  - id: {worker}
    replicas: {count}                   # {worker}-1, {worker}-2 …
    role: worker
    provider: {provider}
    projects: [{id}]
"""

_MAKES = """\
    provider_options: {{permissions: edit}}       # read: look at files; full: run commands, too, as you would
    system_prompt: |
      You make what your task asks for, in the project's directory, and nothing besides.
      Read what is there first, and go on in its style. Make the smallest change that does it, and leave no
      half-finished files. Say in your summary which files you made or changed, and what you are not sure of. If
      something you need is missing, report blocked and say what.
"""

_OF_MODELS = """
# What an agent's program may do by itself stands in provider_options.permissions:
#   read: look at files (default of managers).  edit: change files, too (default of workers).
#   full: run commands, too, as you would (only where it stands here).
agents:
  - id: lead
    name: Lead
    role: manager
    provider: {lead}
    projects: [{id}]
    provider_options: {{permissions: read}}
    system_prompt: |
      You lead a small crew: builder makes things, reviewer checks and corrects them. You do not do the work yourself.
      Look at what is there before you divide a task. Make few parts, and only parts that somebody needs. To each part
      say what to make, in which file, what it must contain, and how to check that it is right; the worker
      knows only what you write there. Let reviewer check what builder made, after it is made.
      Report what was achieved, where it stands, and what is left open, in plain words and without praise.

  - id: builder
    name: Builder
    role: worker
    reports_to: lead
    provider: {builder}
    capabilities: [writing, building]
    projects: [{id}]
    provider_options: {{permissions: edit}}
    system_prompt: |
      You make what your task asks for, in the project's directory, and nothing besides.
      Read what is there first, and go on in its style. Claim nothing that you have not seen in the files. Make the
      smallest change that does it, and leave no half-finished files. Say in your summary which files you
      made or changed, and what you are not sure of. If something you need is missing, report blocked and say what.

  - id: reviewer
    name: Reviewer
    role: worker
    reports_to: lead
    provider: {reviewer}
    capabilities: [reviewing]
    projects: [{id}]
    provider_options: {{permissions: edit}}
    system_prompt: |
      You check what others made, against what was asked and against the files themselves.
      Open every file that is named, and look up each claim. Correct what is wrong or missing, as little as possible;
      change nothing because of taste. Say in your summary what you checked, what you corrected, and what remains. If
      it cannot be fixed in a few lines, report failed with the reasons, so that it is done again.

tasks:
  - project: {id}
    title: {title}
    assignee: lead
    status: backlog               # `toryo task move TASK in_progress` starts it, and from then on it costs tokens
    description: |
      Write {result} in this directory: one page that tells a newcomer what is here, where the important things are, and
      how to start. At most 60 lines; only what the files show. If there is next to nothing here yet, say so, and
      suggest three small things to begin with. Change no other file.
      Two parts are enough: builder writes it, then reviewer checks it against the files and corrects it.
    acceptance:
      - file: {result}
"""

_ISOLATED = "      isolation: worktree         # each task has a git worktree; `toryo task merge TASK` brings it in"
_IN_A_QUEUE = "      isolation: worktree         # each task has a git worktree"
_SHARED = (
    "      # isolation: worktree       # in a git repository: a worktree for each task, merged by `toryo task merge`"
)
_MERGED = {
    "automatic": "      merge_queue: automatic      # finished work is merged by itself, if it passes the checks",
    "manual": "      merge_queue: manual         # `toryo merge-queue add TASK` merges it, if it passes the checks",
}
_CHECKS = "      required_checks:            # must succeed before a task is completed, and before it is merged"
LOOK_AROUND = "Look around"


class Rules(NamedTuple):
    """How the project's work is kept apart, checked and merged."""

    isolated: bool = False
    merge: str | None = None
    checks: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """As settings in the file."""
        yield (_IN_A_QUEUE if self.merge else _ISOLATED) if self.isolated else _SHARED
        if self.merge is not None:
            yield _MERGED[self.merge]
        if self.checks:
            yield _CHECKS
            yield from (f"        - command: {_quoted(each)}" for each in self.checks)


def of_models(name: str, providers: Sequence[str], rules: Rules) -> str:
    """A manager and two workers; with several providers the workers are of different ones."""
    lead, builder, reviewer = (crew(providers) * 3)[:3]
    return _head(name, rules, models=True) + _OF_MODELS.format(
        id=_word(id_from(name)), lead=lead, builder=builder, reviewer=reviewer, title=TITLE, result=RESULT
    )


def without_model(name: str, command: str, rules: Rules) -> str:
    """One agent that runs the command of its task."""
    return _head(name, rules) + _WITHOUT_MODEL.format(
        id=_word(id_from(name)), title=LOOK_AROUND, command=_quoted(command)
    )


def of_equals(name: str, providers: Sequence[str], count: int, rules: Rules) -> str:
    """That many workers without a manager, and no task. Several providers share them; without one they run commands."""
    project, used = _word(id_from(name)), crew(providers, count)
    counts = [(each, len(range(place, count, len(used)))) for place, each in enumerate(used)] or [("command", count)]
    workers = "".join(
        _WORKER.format(worker=_of(each, counts), count=many, provider=each, id=project)
        + (_MAKES.format() if used else "")
        for each, many in counts
    )
    work = "description: …" if used else 'context: {command: "make"}'
    return _head(name, rules, models=bool(used)) + _EQUAL.format(id=project, workers=workers.rstrip(), work=work)


def _of(provider: str, counts: Sequence[tuple[str, int]]) -> str:
    return WORKER if len(counts) == 1 else f"{WORKER}-{provider}"


def _head(name: str, rules: Rules, *, models: bool = False) -> str:
    settings = "\n".join([*([_OF_ALL_MODELS] if models else []), *rules.lines()])
    return _HEAD.format(file=FILE, id=_word(id_from(name)), name=_quoted(name), settings=settings)


AGENTS = 3
"""How many agents the team with a manager has."""


def crew(providers: Sequence[str], agents: int = AGENTS) -> list[str]:
    """Those of the providers that get an agent."""
    return list(providers[:agents])


def left_out(providers: Sequence[str], agents: int = AGENTS) -> list[str]:
    """Those that get none."""
    return list(providers[agents:])


def id_from(name: str) -> str:
    """The id of a project that is called so."""
    return chosen_ids.made_of(name, "project")


def _word(id: str) -> str:
    """An id as YAML reads it: `2026` and `no` are words only in quotes."""
    import yaml

    return id if yaml.safe_load(id) == id else _quoted(id)


def _quoted(text: str) -> str:
    import yaml

    return str(yaml.safe_dump(text, default_style='"', width=1000, allow_unicode=True)).strip()
