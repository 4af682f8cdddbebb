"""The demo's team and its tasks, for `toryo demo` and for the dashboard's button.

team.yaml defines the agents and how each of them works. Each job has its own project, and so its own directory and
members: the manager of a translation sees the two translators only, and the four jobs run in parallel without touching
each other's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

LEAD = "lead"
"""The assignee of all main tasks."""
MEMBERS = (LEAD, "japanese", "chinese", "generator", "calculator", "joiner", "clerk", "merchant")
"""All agents in team.yaml, superiors first."""
LINES = {
    "Hello, world.": ("こんにちは、世界。", "你好，世界。"),
    "The timber has arrived.": ("木材が届きました。", "木材已经到了。"),
    "We begin tomorrow.": ("明日始めます。", "我们明天开始。"),
    "Thank you for your help.": ("手伝ってくれてありがとう。", "谢谢你的帮助。"),
}
STOCK = "plank,oak,12\nplank,pine,30\nbeam,oak,4\nbeam,cedar,7\n"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A main task in its own project. `given` are the input files, `promised` the files that the job must create."""

    project: str
    title: str
    description: str
    promised: tuple[str, ...]
    given: Mapping[str, str] = field(default_factory=dict)

    def task(self) -> dict[str, Any]:
        """The task that a person creates, in progress from the start. The agents do the rest."""
        return {
            "title": self.title,
            "description": self.description,
            "assignee_id": LEAD,
            "status": "in_progress",
            "acceptance": [{"file": name} for name in self.promised],
        }

    def lay_out(self, directory: Path) -> None:
        """Creates its directory with the input files, and removes the results of an earlier run."""
        place = directory / self.project
        place.mkdir(parents=True, exist_ok=True)
        for name in self.promised:
            (place / name).unlink(missing_ok=True)
        for name, text in self.given.items():
            (place / name).write_text(text, encoding="utf-8")


def text() -> str:
    """The text of team.yaml, which has the format of any toryo.yaml."""
    return files(__package__).joinpath("team.yaml").read_text(encoding="utf-8")


def team() -> dict[str, list[dict[str, Any]]]:
    """Its `projects` and `agents`."""
    import yaml  # slower than the rest of a start, and needed once

    said: dict[str, list[dict[str, Any]]] = yaml.safe_load(text())
    return said


def _phrasebook(language: int) -> str:
    """A sed script that translates the lines of hello.txt; a model would know the language."""
    return "".join(f"s/^{english}$/{words[language]}/\n" for english, words in LINES.items())


JOBS = {
    job.project: job
    for job in (
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
