"""The story of tests/scenarios/test_typed.py with real programs: what is typed is the same, but the workers are Claude
Code and Codex, and only their model is scripted.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clis import programs as clis
from tests.clis.crews import TIME_TO_TELL, ModelSite, set_up
from tests.clis.policies import ObedientModel, Told, next_step, reports, task_of
from tests.clis.test_sandboxed import reading
from tests.clis.turns import Answer, Turn, WriteFile
from tests.repositories import Repository
from tests.scenarios import programs
from tests.scenarios.programs import Program
from tests.scenarios.sites import QUICK, WITHIN, free_port
from tests.scenarios.test_typed import CHECK

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(900, method="signal")]

NAMES = ("claude", "codex")
CORRECTS = "Changes to: "
WITHIN_ALL = 500.0


@dataclass(frozen=True)
class Hand(ObedientModel):
    """Writes the part that its task names; of one that was sent back, in other words."""

    def do_execute_task(self, turn: Turn, told: Told) -> Answer:
        task = task_of(turn)
        title = str(task["title"])
        file = Path(task["working_directory"]) / "parts" / title.removeprefix(CORRECTS)
        if not title.startswith(CORRECTS):
            return next_step([[WriteFile(str(file), "ok\n")]], told.since) or reports("success", f"{title} is there")
        # Claude Code changes no file that it has not read.
        first = [[each] for each in (reading(turn.tools, file),) if each is not None]
        return next_step([*first, [WriteFile(str(file), "ok, fine\n")]], told.since) or reports("success", "It is fine")

    do_create_subtasks = do_execute_task


class Shop(ModelSite):
    """A person's repository, in which `toryo up` runs; what the person types there."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, Hand(), ())
        paths = [clis.installed(each).path for each in NAMES]
        self.environment["PATH"] = os.pathsep.join([*paths, self.environment["PATH"]])
        for each in NAMES:
            self.environment |= set_up(each, self.endpoint.url, directory)
        del self.environment["TORYO_DATA_DIR"]
        self.repository = Repository(directory / "shop")
        self.repository.commit("before", check__sh=CHECK)

    def serve(self) -> None:
        asked = [word for each in NAMES for word in ("--provider", each)]
        asked += ["--workers", "3", "--check", "sh check.sh", "--merge", "automatic"]
        self.data = Path(json.loads(self.types("init", "--yes", *asked, "--json"))["data_dir"])
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.ways = [self.url]
        words, served = ["up", "--no-open", "--port", str(port)], {**self.environment, **QUICK, **TIME_TO_TELL}
        self.server = Program("up", words, served, self.directory, cwd=self.repository.path)
        self.server.start().says("Toryo is up at")
        self.server.says("coordinator: ")

    def types(self, *words: str) -> str:
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

    def all_is_merged(self, many: int) -> None:
        def merged() -> bool:
            tasks = self.tasks("shop").values()
            params = {"state": "open"}
            left = self.people.rest("GET", "/projects/shop/worktrees", params=params)["worktrees"]
            return len(tasks) == many and {each["status"] for each in tasks} == {"completed"} and not left

        self.until(f"{many} tasks are merged", merged, within=WITHIN_ALL)


def test_two_programs_do_four_chains_that_are_merged_by_themselves_and_one_that_is_sent_back(tmp_path: Path) -> None:
    with Shop(tmp_path) as shop:
        shop.types("apply", "toryo.yaml", "--yes")
        for chain in "abcd":
            shop.types("task", "add", f"{chain}-1", "--assignee", "any")
            for step in (2, 3):
                before = ("--depends-on", f"{chain}-{step - 1}")
                shop.types("task", "add", f"{chain}-{step}", "--assignee", "any", *before)
        shop.all_is_merged(12)

        tasks = shop.tasks("shop").values()
        launches = shop.people.rest("GET", "/launches", params={"limit": 200})["launches"]
        assert [each["end_reason"] for each in launches] == ["reported"] * 12, "nobody was started without work"
        assert {each["assignee_id"] for each in tasks} == {"w-claude-1", "w-claude-2", "w-codex-1"}
        assert shop.repository.failing("sh check.sh", tmp_path / "looked") == []

        shop.types("task", "request-changes", "c-2", "Not ok, but fine.")
        shop.all_is_merged(13)
        assert (shop.repository.path / "parts" / "c-2").read_text("utf-8") == "ok, fine\n"
        assert shop.repository.failing("sh check.sh", tmp_path / "looked") == []
