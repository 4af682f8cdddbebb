"""The teams that `toryo init` writes: a toryo.yaml for a crew of models, and one that needs no model at all.

Only text is made here. What is asked and where it is written is init_apply.py; what the keys mean is manifest.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from toryo import chosen_ids

FILE = "toryo.yaml"
RESULT = "TOUR.md"
TITLE = "A tour of this directory"

_HEAD = """\
# A team and its first task; `toryo apply {file}` creates or updates everything below; run it again after each change.
# An unknown key is answered with the valid ones; docs/reference/manifest.md in Toryo's source explains them all.

projects:
  - id: {id}
    name: {name}
    directory: .
"""

_WITHOUT_MODEL = """
agents:
  # Runs the command of its task in the project's directory: tests, linters, builds.
  - id: runner
    role: worker
    provider: command
    projects: [{id}]

tasks:
  - project: {id}
    title: Look around
    assignee: runner
    status: in_progress
    context:
      command: {command}
"""

_OF_MODELS = """\
    settings:
      start: when_ready           # tasks in todo start by themselves, one after the other for each agent
      decomposition: optional     # workers do small tasks whole: fewer tokens
      budget_per_day: 5           # US dollars, of programs that tell their cost or have prices
      tokens_per_day: 20000000    # input and output, of all programs; agents stop when either is used up
{isolation}

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
_SHARED = (
    "      # isolation: worktree       # in a git repository: a worktree for each task, merged by `toryo task merge`"
)


def of_models(name: str, providers: Sequence[str], *, isolated: bool = False) -> str:
    """A manager and two workers; with several providers the workers are of different ones."""
    lead, builder, reviewer = (crew(providers) * 3)[:3]
    return (_HEAD + _OF_MODELS).format(
        file=FILE,
        id=_word(id_from(name)),
        name=_quoted(name),
        isolation=_ISOLATED if isolated else _SHARED,
        lead=lead,
        builder=builder,
        reviewer=reviewer,
        title=TITLE,
        result=RESULT,
    )


AGENTS = 3
"""How many agents the team has."""


def crew(providers: Sequence[str]) -> list[str]:
    """Those of the providers that get an agent."""
    return list(providers[:AGENTS])


def left_out(providers: Sequence[str]) -> list[str]:
    """Those that get none."""
    return list(providers[AGENTS:])


def without_model(name: str, command: str) -> str:
    """One agent that runs the command of its task."""
    text = _HEAD + _WITHOUT_MODEL
    return text.format(file=FILE, id=_word(id_from(name)), name=_quoted(name), command=_quoted(command))


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
