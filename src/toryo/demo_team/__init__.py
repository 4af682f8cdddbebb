"""The demo's team and its tasks, for `toryo demo` and for the dashboard's button.

team.yaml defines the agents and how each of them works. Each job has its own project, and so its own directory and
members: the manager of a translation sees the two translators only, and the five jobs run in parallel without touching
each other's files. The tea house is the one that needs a person: it is a git repository (repository.py) whose tasks
have worktrees, one of its agents asks for approval, and another one asks a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from toryo.demo_team import repository

PAUSE, QUICK_PAUSE = 3.0, 0.8
"""Seconds between two steps of an agent: so that people can watch, or so that the jobs are soon done."""
LEAD = "lead"
"""The assignee of all main tasks."""
MEMBERS = (
    LEAD,
    "emil",
    "nora",
    "yuki",
    "iris",
    "theo",
    "japanese",
    "chinese",
    "generator",
    "calculator",
    "joiner",
    "clerk",
    "merchant",
)
"""All agents in team.yaml, superiors first."""
LINES = {
    "Hello, world.": ("こんにちは、世界。", "你好，世界。"),
    "The timber has arrived.": ("木材が届きました。", "木材已经到了。"),
    "We begin tomorrow.": ("明日始めます。", "我们明天开始。"),
    "Thank you for your help.": ("手伝ってくれてありがとう。", "谢谢你的帮助。"),
}
TEAS = "Sencha,4.50\nGyokuro,7.00\nHojicha,4.00\nCold green tea,5.00\n"
STOCK = "plank,oak,12\nplank,pine,30\nbeam,oak,4\nbeam,cedar,7\n"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A main task in its own project. `given` are the input files, `promised` the files that the job must create."""

    project: str
    title: str
    description: str
    promised: tuple[str, ...]
    given: Mapping[str, str] = field(default_factory=dict)
    in_git: bool = False
    """Whether its directory is a git repository, where there is a git for worktrees."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Further main tasks: the assignee of each title."""
    says: Mapping[str, str] = field(default_factory=dict)
    """What the person writes to agents at the beginning."""

    def tasks(self, person: str, pause: float) -> list[dict[str, Any]]:
        """The tasks that a person creates, in progress from the start. The agents do the rest."""
        context = {"pause": pause, "person": person}
        return [
            {
                "title": self.title,
                "description": self.description,
                "assignee_id": LEAD,
                "status": "in_progress",
                "priority": "high" if self.in_git else "medium",
                "acceptance": [{"file": name} for name in self.promised],
                "context": context,
            },
            *(
                {"title": title, "assignee_id": agent, "status": "in_progress", "context": context}
                for title, agent in self.also.items()
            ),
        ]

    def lay_out(self, directory: Path, *, worktrees: bool) -> None:
        """Creates its directory with the input files, and removes the results of an earlier run."""
        place = directory / self.project
        place.mkdir(parents=True, exist_ok=True)
        for name in self.promised:
            (place / name).unlink(missing_ok=True)
        for name, text in self.given.items():
            (place / name).write_text(text, encoding="utf-8")
        if self.in_git and worktrees:
            repository.commit_all(place)


def lay_out(directory: Path) -> bool:
    """The directories of all jobs. Returns whether tasks can have worktrees there. Raises OSError."""
    worktrees = repository.is_possible()
    for job in JOBS.values():
        job.lay_out(directory, worktrees=worktrees)
    return worktrees


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def text(*, worktrees: bool = True) -> str:
    """The text of team.yaml, which has the format of any toryo.yaml."""
    whole = _file("team.yaml")
    return whole if worktrees else whole.replace("isolation: worktree", "isolation: none")


def team(*, worktrees: bool = True) -> dict[str, list[dict[str, Any]]]:
    """Its `projects` and `agents`."""
    import yaml  # slower than the rest of a start, and needed once

    said: dict[str, list[dict[str, Any]]] = yaml.safe_load(text(worktrees=worktrees))
    return said


def _phrasebook(language: int) -> str:
    """A sed script that translates the lines of hello.txt; a model would know the language."""
    return "".join(f"s/^{english}$/{words[language]}/\n" for english, words in LINES.items())


JOBS = {
    job.project: job
    for job in (
        Job(
            project="teahouse",
            title="Make the website of the tea house",
            description="A menu in English and Japanese, the opening hours, and a first page that leads to them.",
            given={
                "index.md": "# Tea house\n\nComing soon.\n",
                "menu.csv": TEAS,
                "rehearsal.sh": _file("rehearsal.sh"),
            },
            promised=("menu.md", "menu_ja.md", "hours.md"),
            in_git=True,
            also={"Paint the sign": "theo"},
            says={"iris": "Please order new tea cups."},
        ),
        Job(
            project="translation",
            title="Translate hello.txt into Japanese and Chinese",
            description="Create hello_ja.txt and hello_zh.txt. The manager decides who translates what.",
            given={
                "hello.txt": "".join(f"{english}\n" for english in LINES),
                "ja.sed": _phrasebook(0),
                "zh.sed": _phrasebook(1),
            },
            promised=("hello_ja.txt", "hello_zh.txt"),
        ),
        Job(
            project="numbers",
            title="Draw a number and double it",
            description="Write a number from 1 to 1000 to seed.txt, and twice that number to result.txt.",
            promised=("seed.txt", "result.txt"),
        ),
        Job(
            project="timber",
            title="Report what timber is in stock",
            description="Create stock.md from stock.csv.",
            given={"stock.csv": STOCK},
            promised=("totals.txt", "stock.md"),
        ),
        Job(
            project="offer",
            title="Make an offer for ten pieces of oak",
            description="Write it to offer.txt. The clerk must ask the merchant for the price.",
            promised=("offer.txt",),
        ),
    )
}
"""By project."""
