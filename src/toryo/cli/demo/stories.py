"""The five stories of the demo: what must be true when each job is done. toryo/demo_team has the jobs and the team."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toryo import untrusted_files
from toryo.cli.demo import answers
from toryo.demo_team import JOBS, LINES, Job

Task = Mapping[str, Any]
Check = Callable[["Happened"], list[str]]
"""The problems found, in words."""

MENU = """# Menu

- Sencha: 4.50 EUR
- Gyokuro: 7.00 EUR
- Hojicha: 4.00 EUR
- Cold green tea: 5.00 EUR
"""
HOURS = """# Opening hours

- Monday to Friday: 9 to 18
- Saturday: 10 to 17
- Sunday: closed
"""
OFFER = "Ten pieces of oak: 42 a piece.\n"
REPORT = "# Timber\n\n- beam: 11\n- plank: 42\n"


@dataclass(frozen=True)
class Happened:
    """The outcome of a story: its directory, tasks, launches, and messages."""

    directory: Path
    tasks: Sequence[Task]
    launches: Sequence[Task]
    conversations: Sequence[Task] = ()
    """Each with its `messages`."""
    by_people: Collection[str] = ()
    """What somebody else than the demo has decided: an approval, a question, a review."""


@dataclass(frozen=True, kw_only=True)
class Story(Job):
    """A job, what it demonstrates, and the check of its result."""

    name: str
    check: Check


def _made_and_reviewed(story: Happened) -> list[str]:
    wrong = [] if answers.REVIEW in story.by_people else _different(story.directory / "menu.md", MENU)
    wrong += [] if answers.REVIEW in story.by_people else _different(story.directory / "hours.md", HOURS)
    if sum(launch["agent_id"] == "nora" for launch in story.launches) != 2:
        wrong.append("the failed task was not retried once")
    summaries = {task["title"]: task.get("summary") or "" for task in story.tasks}
    if answers.QUESTION not in story.by_people and answers.ANSWER not in summaries.get("Paint the sign", ""):
        wrong.append("the answer to the question did not arrive")
    if "Order new tea cups" not in summaries:
        wrong.append("no task was requested")
    return wrong


def _translated(story: Happened) -> list[str]:
    japanese, chinese = ("".join(f"{each[language]}\n" for each in LINES.values()) for language in (0, 1))
    wrong = _different(story.directory / "hello_ja.txt", japanese)
    wrong += _different(story.directory / "hello_zh.txt", chinese)
    workers = [launch for launch in story.launches if launch["agent_id"] in {"japanese", "chinese"}]
    if not _overlap(workers):
        wrong.append("the two translators did not work at the same time")
    return wrong


def _doubled(story: Happened) -> list[str]:
    seed_file, result_file = story.directory / "seed.txt", story.directory / "result.txt"
    try:
        seed, result = int(untrusted_files.text(seed_file)), int(untrusted_files.text(result_file))
    except (OSError, ValueError) as error:
        return [f"the numbers cannot be compared: {error}"]
    wrong = [] if 1 <= seed <= 1000 else [f"seed.txt is {seed}, not 1 to 1000"]
    if result != 2 * seed:
        wrong.append(f"result.txt is {result}, not twice {seed}")
    if seed_file.stat().st_mtime_ns > result_file.stat().st_mtime_ns:
        wrong.append("seed.txt is newer than result.txt")
    return wrong + _out_of_order(story.tasks)


def _reported(story: Happened) -> list[str]:
    wrong = _different(story.directory / "stock.md", REPORT)
    by_id = {task["task_id"]: task for task in story.tasks}
    if max((_depth(task, by_id) for task in story.tasks), default=0) < 3:
        wrong.append("the worker did not split its task: there are fewer than three levels of tasks")
    return wrong


def _asked(story: Happened) -> list[str]:
    wrong = _different(story.directory / "offer.txt", OFFER)
    if not story.conversations:
        return [*wrong, "no agent asked another agent"]
    said = [message["from_agent_id"] for message in story.conversations[-1]["messages"]]
    if said != ["clerk", "merchant"] * 2:
        wrong.append(f"clerk and merchant did not take turns: {', '.join(said)}")
    return wrong


def _different(path: Path, expected: str) -> list[str]:
    try:
        found = untrusted_files.text(path)
    except OSError:
        return [f"{path.name} is missing"]
    return [] if found == expected else [f"{path.name} has unexpected contents"]


def _overlap(launches: Sequence[Task]) -> bool:
    """Whether processes of two different agents were signed in at the same time."""
    spans = [(launch["agent_id"], launch.get("signed_in_at"), launch.get("ended_at")) for launch in launches]
    done = [(agent, start, end) for agent, start, end in spans if start and end]
    return any(one[0] != other[0] and one[1] < other[2] and other[1] < one[2] for one in done for other in done)


def _out_of_order(tasks: Sequence[Task]) -> list[str]:
    """The problems of dependencies: none is stored, or a task started before one that it depends on was completed."""
    by_id = {task["task_id"]: task for task in tasks}
    pairs = [(task, by_id[other]) for task in tasks for other in task["dependencies"] if other in by_id]
    if not pairs:
        return ["no task depends on another"]
    return [
        f"{later['title']!r} was started before {first['title']!r} was completed"
        for later, first in pairs
        if not first["completed_at"] or not later["started_at"] or later["started_at"] < first["completed_at"]
    ]


def _depth(task: Task, by_id: Mapping[str, Task]) -> int:
    parent = by_id.get(task.get("parent_task_id") or "")
    return 1 if parent is None else 1 + _depth(parent, by_id)


def _story(name: str, project: str, check: Check) -> Story:
    return Story(name=name, check=check, **vars(JOBS[project]))


STORIES = (
    _story("A team makes a website, and asks you", "teahouse", _made_and_reviewed),
    _story("Two translators work in parallel", "translation", _translated),
    _story("One task waits for another", "numbers", _doubled),
    _story("A worker splits its task", "timber", _reported),
    _story("A worker asks another agent", "offer", _asked),
)
