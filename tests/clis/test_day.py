"""A newcomer's first day, as one story: `toryo init`, `up` and `apply` in a repository with tests, four real
programs, and everything that goes wrong on a day: parts that conflict, a check that cannot run, a machine that sleeps,
a budget, a service that hangs up. Only the model is scripted. What a person does is what only a person can do.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clis import programs as clis
from tests.clis.crews import TIME_TO_TELL, Editor, Gathering, ModelSite, set_up
from tests.clis.policies import GOODBYE, Crew, ObedientModel, Told, agent_of, next_step, reports, task_of
from tests.clis.test_sandboxed import reading
from tests.clis.turns import Answer, CallTool, Cut, Part, Policy, Reply, Say, Turn, Usage, WriteFile
from tests.clis.wiring import as_reply
from tests.repositories import Repository
from tests.scenarios import programs
from tests.scenarios.programs import Program
from tests.scenarios.sites import QUICK, WITHIN, free_port

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, method="signal")]

LEASE = 8
ASLEEP = LEASE + 4
"""Seconds."""
TEAM = {"lead": "claude", "builder": "codex", "writer": "gemini", "mender": "copilot", "reviewer": "claude"}
MODELS = {"claude": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}
CANNOT_RUN = ".venv/bin/python -m pytest -q"
TESTS = "python3 -m unittest discover -q && touch tested"
"""As many do, they leave something."""
CHECKS = [{"command": TESTS}, {"review": {"by": "reviewer"}}]
BUDGET = 5
"""US dollars: what `toryo init` writes."""
TOO_MUCH = Usage(input=2_000_000, output=100)
"""Six dollars, by the prices that Claude Code knows."""
MORE_THAN_CODEX_BEARS = 8
"""Answers that are cut off, one after the other: it gives up. The others are cut off once."""
MOST_TOKENS, MOST_TOKENS_OF_A_WORKER = {"lead": 330_000}, 130_000
"""In one launch."""
WITHIN_A_DAY = 300.0

SHOP = """\
def price(cents: int, pieces: int) -> int:
    return cents * pieces
"""
TEST_OF_SHOP = """\
import unittest

import shop


class Prices(unittest.TestCase):
    def test_a_price_is_that_of_all_pieces(self):
        self.assertEqual(shop.price(250, 3), 750)
"""
TEST_OF_CHANGES = """\
import unittest
from pathlib import Path


class Changes(unittest.TestCase):
    def test_each_line_is_one_change(self):
        head, *lines = Path("CHANGES").read_text().splitlines()
        self.assertEqual(head, "Changes")
        self.assertEqual([line for line in lines if not line.startswith("- ")], [])
"""
WORK = {
    "Discount": (
        "discount.py",
        "def discounted(cents: int) -> int:\n    return cents * 9 // 10\n",
        "discounted(100), 90",
    ),
    "Tax": ("tax.py", "def taxed(cents: int) -> int:\n    return cents * 11 // 10\n", "taxed(100), 110"),
    "Rounding": ("rounding.py", "def rounded(cents: int) -> int:\n    return round(cents, -1)\n", "rounded(104), 100"),
}
"""By task: a module, what is in it, and what its test says is equal. Each adds a line below the head of CHANGES."""


# --- minds ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Maker(ObedientModel):
    """Makes its module, a test of it and a line of CHANGES; of a conflict, keeps what both sides wrote."""

    def do_execute_task(self, turn: Turn, told: Told) -> Answer:
        task = task_of(turn)
        place, title = Path(task["working_directory"]), str(task["title"])
        changes = place / "CHANGES"
        # Claude Code and Gemini CLI change no file that they have not read.
        steps = [[each] for each in (reading(turn.tools, changes),) if each is not None]
        return next_step([*steps, made(place, title)], told.since) or reports("success", f"{title} is done")

    do_create_subtasks = do_execute_task

    def do_wait_for_answer(self, turn: Turn, told: Told) -> Answer:
        return CallTool("logout")


def made(place: Path, title: str) -> list[Part]:
    changes = place / "CHANGES"
    if title.startswith("Resolve the conflict"):
        lines = changes.read_text().splitlines(keepends=True)
        both = [line for line in lines if not line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||"))]
        return [WriteFile(str(changes), "".join(both))]
    file, text, equal = WORK[title]
    head, _, rest = changes.read_text().partition("\n")
    module = file.removesuffix(".py")
    test = f"import unittest\n\nimport {module}\n\n\nclass It(unittest.TestCase):\n    def test_it(self):\n"
    return [
        WriteFile(str(place / file), text),
        WriteFile(str(place / f"test_{file}"), f"{test}        self.assertEqual({module}.{equal})\n"),
        WriteFile(str(changes), f"{head}\n- {title}\n{rest}"),
    ]


@dataclass(frozen=True)
class Lead(Editor):
    """Asks a person before it divides its task."""

    def do_create_subtasks(self, turn: Turn, told: Told) -> Answer:
        if task_of(turn)["questions"]:
            return super().do_create_subtasks(turn, told)
        if told.answer_of("ask_person"):
            return CallTool("get_next_action")
        return CallTool("ask_person", {"question": "How high is the tax?", "options": ["8 %", "10 %"]})

    def do_wait_for_answer(self, turn: Turn, told: Told) -> Answer:
        return CallTool("logout")


@dataclass(frozen=True)
class Reviewer(ObedientModel):
    """Reads the diff, and approves what has one."""

    read: list[str] = field(default_factory=list)

    def do_execute_task(self, turn: Turn, told: Told) -> Answer:
        if told.answer_of("submit_review"):
            return Say(GOODBYE)
        diff = told.answer_of("get_diff")
        if diff is None or "patch" not in diff:
            return CallTool("get_diff")
        self.read.append(str(diff["patch"]))
        return CallTool("submit_review", {"verdict": "approve", "summary": "It does what it says."})


@dataclass
class HangsUp:
    """The service: at this answer of a conversation it cuts the connection, so many times."""

    mind: Policy
    at: int = 3
    times: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, turn: Turn) -> Answer:
        with self._lock:
            if turn.number == self.at and self.times > 0:
                self.times -= 1
                return Cut()
        return self.mind(turn)


@dataclass
class Spends:
    """One answer is very dear: the one that reports."""

    mind: Policy
    spent: bool = False

    def __call__(self, turn: Turn) -> Answer:
        answer = self.mind(turn)
        if self.spent or not isinstance(answer, CallTool) or answer.name != "report_completed":
            return answer
        self.spent = True
        return Reply(as_reply(answer).parts, TOO_MUCH)


# --- the place, and who is there --------------------------------------------------------------------------------------


class Day(ModelSite):
    """A person's repository, in which `toryo up` runs; what the person types there."""

    def __init__(self, directory: Path, policy: Policy) -> None:
        super().__init__(directory, policy, ())
        names = sorted(set(TEAM.values()))
        paths = [clis.installed(each).path for each in names]
        self.environment["PATH"] = os.pathsep.join([*paths, self.environment["PATH"]])
        for each in names:
            self.environment |= set_up(each, self.endpoint.url, directory)
        del self.environment["TORYO_DATA_DIR"]
        self.repository = Repository(directory / "shop")
        self.repository.commit(
            shop__py=SHOP,
            test_shop__py=TEST_OF_SHOP,
            test_changes__py=TEST_OF_CHANGES,
            CHANGES="Changes\n",
            __gitignore=".venv/\n__pycache__/\ntested\n",
        )
        self.acted: list[str] = []

    def serve(self) -> None:
        providers = [word for each in ("claude", "codex", "gemini") for word in ("--provider", each)]
        self.data = Path(json.loads(self.types("init", "--yes", *providers, "--json"))["data_dir"])
        self._hires()
        port = free_port()
        served = {**self.environment, **QUICK, **TIME_TO_TELL, "TORYO_SESSION__LEASE": str(LEASE)}
        words = ["up", "--no-open", "--port", str(port), "--max-concurrent", "4"]
        self.server = Program("up", words, served, self.directory, cwd=self.repository.path)
        self.url = f"http://127.0.0.1:{port}"
        self.ways = [self.url]
        self.server.start().says("Toryo is up at")
        self.server.says("coordinator: ")

    def _hires(self) -> None:
        """Edits toryo.yaml as the how-to pages say, and commits it."""
        file = self.repository.path / "toryo.yaml"
        team = yaml.safe_load(file.read_text())
        (shop,) = team["projects"]
        checks = [{"command": CANNOT_RUN}, {"review": {"by": "reviewer"}}]
        shop["settings"] |= {"isolation": "worktree", "merge_queue": "automatic", "required_checks": checks}
        agents = {each["id"]: each for each in team["agents"]}
        for name, can in (("writer", "taxes"), ("mender", "mending")):
            agents[name] = {**agents["builder"], "id": name, "name": name.title(), "capabilities": [can]}
        agents["reviewer"]["provider_options"] = {"permissions": "read"}
        for name, agent in agents.items():
            agent["provider"] = TEAM[name]
            if TEAM[name] in MODELS:
                agent["model"] = MODELS[TEAM[name]]
        team["agents"] = list(agents.values())
        team["tasks"] = [
            {"project": "shop", "title": title, "assignee": who, "status": "todo", "description": title}
            for title, who in (("Tax and discount", "lead"), ("Rounding", "mender"))
        ]
        file.write_text(yaml.safe_dump(team, sort_keys=False))
        self.repository.commit("A team")

    def types(self, *words: str) -> str:
        """A command that looks at something."""
        done = subprocess.run(
            [*programs.TORYO, *words],
            env=self.environment,
            cwd=self.repository.path,
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def acts(self, *words: str) -> None:
        """A command that changes something."""
        self.acted.append(" ".join(words[:2]))
        self.types(*words)

    def needs(self, kind: str) -> dict[str, Any]:
        """What waits for the person, once it is of this kind."""

        def waiting() -> dict[str, Any] | None:
            items = self.people.rest("GET", "/needs-you")["items"]
            return next((each for each in items if each["kind"] == kind), None)

        return self.until(f"{kind} is in toryo needs", waiting)

    def answers(self, words: str) -> None:
        """What is asked, once something is."""
        (asked, *_) = self.needs("question")["questions"]
        self.types("answer", asked["question_id"], words)
        self.acted.append(f"answer {words}")

    def merged(self) -> bool:
        """Both tasks are done, and no worktree has work that is nowhere else."""
        done = {task["status"] for task in self.tasks("shop").values()} <= {"completed", "cancelled"}
        worktrees = self.people.rest("GET", "/projects/shop/worktrees")["worktrees"]
        left = [each for each in worktrees if each["state"] == "open" and (each["commits"] or each["files_changed"])]
        return done and not left

    def read(self) -> Iterator[tuple[str, int]]:
        """By conversation: whose, and how many tokens its model has read, at four bytes each."""
        read: list[tuple[str, int]] = []
        for request in self.endpoint.requests:
            if request.turn is None or request.turn.side:
                continue
            agent_id, tokens = agent_of(request.turn), len(json.dumps(request.body)) // 4
            before = next((n for n in range(len(read) - 1, -1, -1) if read[n][0] == agent_id), None)
            if request.turn.number == 1 or before is None:
                read.append((agent_id, tokens))
            else:
                read[before] = (agent_id, read[before][1] + tokens)
        return iter(read)

    def sleeps(self, seconds: float) -> None:
        """The machine: everything that was started stands still, and goes on."""
        asleep = {self.server.pid, *below(self.server.pid), *programs.everything_of(self.ways)}
        for pid in asleep:
            os.kill(pid, signal.SIGSTOP)
        threading.Event().wait(seconds)
        for pid in asleep:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def below(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from below(child)


# --- the day ----------------------------------------------------------------------------------------------------------


def test_a_newcomers_team_does_its_day_and_a_person_does_what_only_a_person_can(tmp_path: Path) -> None:
    at_work = Gathering(3)
    reviewer = Reviewer()
    minds: dict[str, Policy] = {
        "lead": HangsUp(Spends(Lead(parts={"building": "Discount", "taxes": "Tax"}))),
        "builder": HangsUp(at_work.held(Maker()), times=MORE_THAN_CODEX_BEARS),
        "writer": HangsUp(at_work.held(Maker())),
        "mender": HangsUp(at_work.held(Maker())),
        "reviewer": HangsUp(reviewer),
    }
    with Day(tmp_path, Crew(minds)) as day:
        day.types("apply", "toryo.yaml", "--yes")
        for task in day.tasks("shop").values():
            day.types("task", "move", task["task_id"], "in_progress")
        day.until("the lead asks", lambda: day.history.of("question.asked"))
        begun = day.history.last

        day.answers("10 %")
        at_work.wait()
        day.sleeps(ASLEEP)
        at_work.opened.set()
        asked = day.needs("question")
        assert asked["title"].startswith("A check cannot run: ")
        assert ".venv/bin/python" in asked["questions"][0]["question"]
        day.acts("project", "edit", "shop", "--yes", "--set", f"required_checks={json.dumps(CHECKS)}")
        day.answers("Run the checks again")
        day.needs("budget_used_up")
        day.acts("project", "edit", "shop", "--yes", "--set", f"budget_per_day={10 * BUDGET}")
        day.until("everything is done and merged", day.merged, within=WITHIN_A_DAY)
        day.until_idle()

        _all_is_there(day, tmp_path)
        _nobody_came_for_nothing(day)
        assert all("+- " in each for each in reviewer.read), "it has seen what was changed"
        assert len(reviewer.read) == sum(task["title"].startswith("Review: ") for task in day.tasks("shop").values())
        assert day.acted == ["answer 10 %", "project edit", "answer Run the checks again", "project edit"]
        by_hand = [each for each in day.history.events if each["actor_id"] == "owner" and each["sequence"] > begun]
        assert Counter(each["kind"] for each in by_hand) == {
            "project.edited": 2,
            "question.answered": 1 + len(WORK),
            "check.started": len(WORK),
        }
        assert json.loads(day.types("needs", "--json"))["items"] == []
        day.types("down")
        assert day.server.ended_with() == 0


def _all_is_there(day: Day, tmp_path: Path) -> None:
    """On main, which was green at every commit; and nothing is anywhere else."""
    repository = day.repository
    head, *lines = (repository.path / "CHANGES").read_text().splitlines()
    assert (head, sorted(lines)) == ("Changes", sorted(f"- {title}" for title in WORK))
    assert {file for file, _, _ in WORK.values()} <= {path.name for path in repository.path.iterdir()}
    assert repository.git("for-each-ref", "--no-merged", "main", "refs/heads") == ""
    assert repository.git("status", "--porcelain") == repository.git("stash", "list") == ""
    assert repository.failing(TESTS, tmp_path / "each") == []


def _nobody_came_for_nothing(day: Day) -> None:
    """One start for each task of a worker, one more for each time that its model's service was away; the lead comes to
    ask, to divide, when all is done, and when a conflict that was found then is resolved. Whom the budget stops before
    the report comes once more."""
    history = day.history
    assert history.of("launch.lost", "launch.expired", "task.failed", "task.blocked") == []
    assert history.double_launches() == history.completed_twice() == []
    away = history.of("agent.cooling_down")
    assert {each["data"]["reason"] for each in away} == {"service_failed"}
    assert len(history.of("project.budget_used_up")) == 1
    starts = Counter(launch["agent_id"] for launch in day.launches())
    tasks = Counter(task["assignee_id"] for task in day.tasks("shop").values())
    stopped = history.of("session.stopped", reason="budget_exhausted")
    reported = {each["launch_id"] for each in history.of("check.started")}
    again = [*away, *(each for each in stopped if each["launch_id"] not in reported)]
    assert starts == Counter({**tasks, "lead": 4}) + Counter(each["agent_id"] for each in again)
    for agent_id, tokens in day.read():
        assert tokens < MOST_TOKENS.get(agent_id, MOST_TOKENS_OF_A_WORKER), (agent_id, tokens)
