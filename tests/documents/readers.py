"""Somebody who reads a page and types what it says, line by line, into a shell of a machine of their own.

Directories have blanks and Japanese letters in their names. What runs on (`toryo up`) is left running as in a terminal
of its own, on a port of its own. Where a page waits for work to be done, so does the reader: before each line that
looks at something, until nobody works any more.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cli.conftest import Ended, Process, Toryo
from tests.cli.fakes import Machine
from tests.documents import pages
from tests.environments import PACKAGES
from toryo.client import Client, server_discovery

PROGRAMS = (
    *("awk", "basename", "cat", "chmod", "cp", "cut", "date", "dd", "dirname", "du", "env", "expr", "find", "git"),
    *("grep", "gzip", "head", "ls", "make", "mkdir", "mv", "printf", "pwd", "rm", "sed", "sh", "sort", "stat", "tail"),
    *("tar", "tee", "touch", "tr", "truncate", "uniq", "wc", "xargs"),
)
BOUND = 100.0
RUNS_ON = {"up": "Toryo is up", "server": "ready http", "coordinator": "connected to"}
"""Commands that go on, and what they print when they are ready."""
GOES_ON = ("task add", "task move", "task retry", "task watch", "apply")
"""Commands that are typed while others work."""
_SHELL = re.compile(r"[|&;<>$`]|^(cd|mkdir|cat|echo|printf)\b")


class Reader:
    """`read` types a block of a page; what was read is remembered."""

    def __init__(self, folder: Path, page: str) -> None:
        folder = folder / "私の 仕事場"
        folder.mkdir(parents=True)
        self.machine = Machine(folder)
        self.page = pages.ROOT / page
        self.blocks = [
            block.text for block in pages.blocks(self.page.read_text(encoding="utf-8")) if block.language == "sh"
        ]
        self.read_so_far: Counter[str] = Counter()
        self.directory = folder
        self.variables: dict[str, str] = {}
        self.words: dict[str, str] = {}
        """What stands in the place of TASK, PRJ and the like."""
        self.running: list[Process] = []
        self.confirms: tuple[str, ...] = ()
        self.told = ""
        """All that the block that is read has printed, as a terminal shows it."""
        self.compares = True
        """Whether what the page shows below a block is what is printed here, too."""
        self._add_programs()

    def _add_programs(self) -> None:
        for name in PROGRAMS:
            found = shutil.which(name)
            if found and not (self.machine.bin / name).exists():
                (self.machine.bin / name).symlink_to(found)
        self.machine.put("python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        self.machine.put("toryo", f'#!/bin/sh\nPYTHONPATH="{PACKAGES}" exec "{sys.executable}" -m toryo "$@"\n')

    @property
    def environment(self) -> Mapping[str, str]:
        return {**self.machine.environment, "TORYO_PORT": "0", **self.variables}

    def toryo(self, *words: str) -> Ended:
        return Toryo(self.directory, self.environment)(*words, cwd=self.directory)

    def json(self, *words: str) -> Any:
        """What a command answers once nobody works."""
        self.settle()
        return Toryo(self.directory, self.environment).json(*words)

    def at(self, *path: str) -> Path:
        """From here on it types in this directory, which is made."""
        self.directory = self.machine.folder.joinpath(*path)
        self.directory.mkdir(parents=True, exist_ok=True)
        return self.directory

    def save(self, name: str, number: int = 0, language: str = "yaml") -> Path:
        """A block of the page that is no command, as a file."""
        found = [block.text for block in self._blocks(language)]
        file = self.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found[number], encoding="utf-8")
        return file

    def _blocks(self, language: str) -> list[pages.Block]:
        return [block for block in pages.blocks(self.page.read_text(encoding="utf-8")) if block.language == language]

    def block(self, begins: str) -> str:
        """The block of the page that has this line (or its beginning) in it."""
        found = [each for each in self.blocks if any(line.startswith(begins) for line in each.splitlines())]
        assert found, f"{self.page.name} has no block with {begins!r}"
        text = min(found, key=lambda each: self.read_so_far[each])
        self.read_so_far[text] += 1
        return text

    def read(
        self, begins: str, *without: str, fails: tuple[str, ...] = (), confirms: tuple[str, ...] = (), **words: str
    ) -> str:
        """Types the block with this line; all that was printed. `without`: beginnings of lines that need what this
        machine does not have; `fails`: of lines that are to fail; `confirms`: of lines that ask whether they may."""
        self.words |= words
        self.confirms = confirms
        block = self.block(begins)
        lines = [line for line in _lines(block) if not line.startswith(without or ("\n",))]
        self.told = ""
        out = "".join([self.type(line, fails=line.startswith(fails or ("\n",))) for line in lines])
        shown = pages.printed(self.page.read_text(encoding="utf-8")).get(block)
        if shown is not None and self.compares:
            assert pages.differs(shown, self.told) == "", block
        return out

    def leave_out(self, begins: str, reason: str) -> None:
        """A block that is not typed here, and why."""
        assert reason
        self.block(begins)

    def type(self, line: str, *, fails: bool = False) -> str:
        if line.startswith(self.confirms or ("\n",)):
            line = f"{line.partition(' #')[0]} --yes"
        for name, meant in self.words.items():
            line = re.sub(rf"\b{name}\b", meant, line)
        words = shlex.split(line, comments=True)
        if words[:1] == ["export"]:
            name, _, value = words[1].partition("=")
            self.variables[name] = value
            return ""
        if words[:1] == ["toryo"] and words[1] in RUNS_ON and "check" not in words:
            self._start(words[1:])
            return ""
        if words[:1] == ["toryo"] and not any(" ".join(words[1:]).startswith(each) for each in GOES_ON):
            self.settle()
        plain = words[:1] == ["toryo"] and not _SHELL.search(shlex.join(words))
        ended = self.toryo(*words[1:]) if plain else self._shell(line)
        assert (ended.code != 0) is fails, f"{line}\n{ended.out}{ended.err}"
        self.told += ended.err + ended.out
        if words[:2] == ["toryo", "down"]:
            self.running.clear()
        return ended.out

    def _shell(self, line: str) -> Ended:
        self.settle()
        where = self.machine.folder / "where"
        ran = subprocess.run(
            ["/bin/sh", "-c", f'{line}\ncode=$?; pwd > "{where}"; exit $code'],
            cwd=self.directory,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=BOUND,
            check=False,
        )
        self.directory = Path(where.read_text(encoding="utf-8").strip())
        return Ended(ran.returncode, ran.stdout, ran.stderr)

    def _start(self, words: list[str]) -> None:
        process = Process(*words, environment=self.environment, cwd=self.directory)
        self.running.append(process)
        process.until(
            "connected to" if words[0] == "coordinator" else "Toryo is up" if words[0] == "up" else "ready http"
        )

    def settle(self) -> None:
        """Until nobody works, and no task is in progress that somebody is to be started for."""
        if not self.running:
            return
        with self._client() as client:
            give_up = time.monotonic() + BOUND
            while self._busy(client):
                assert time.monotonic() < give_up, self.toryo("task", "list").out
                last = client.rest("GET", "/status")["last_event"]
                client.rest("GET", "/events", params={"after": last, "wait_seconds": 1})

    def _client(self) -> Client:
        place = server_discovery.directory(self._data_dir(), {})
        found = server_discovery.find(data_dir=place, environ={})
        return Client(found.url, found.token)

    def _data_dir(self) -> str:
        [said, *_] = [line for line in self.running[-1].lines if "data directory is " in line]
        return shlex.split(said.partition("data directory is ")[2])[0]

    def _busy(self, client: Client) -> bool:
        if client.rest("GET", "/status")["running"]:
            return True
        agents = {agent["agent_id"] for agent in client.rest("GET", "/agents")["agents"] if agent["provider"]}
        for project in client.rest("GET", "/projects")["projects"]:
            params = {"status": "in_progress"}
            tasks = client.rest("GET", f"/projects/{project['project_id']}/tasks", params=params)["tasks"]
            asked = client.rest("GET", f"/projects/{project['project_id']}/questions", params={"state": "open"})
            waiting = {question["task_id"] for question in asked["questions"]}  # for whoever reads
            if any(task["assignee_id"] in agents and task["task_id"] not in waiting for task in tasks):
                return True
        return False

    def task(self, title: str) -> str:
        """The id of a task."""
        found = [
            each
            for each in Toryo(self.directory, self.environment).json("task", "list")["tasks"]
            if each["title"] == title
        ]
        return str(found[-1]["task_id"])

    def shop(self) -> None:
        """A server with a Coordinator, and a project with whom the how-tos speak of."""
        self.at("棚 の店")
        self.type("mkdir .toryo")
        self.type("toryo up")
        self.type("toryo project add Shop --id shop --dir .")
        for words in ("ann --role manager", "keeper --role worker --provider command --reports-to ann"):
            self.type(f"toryo agent add {words} --project shop")
        self.words |= {"PRJ": "shop", "AGENT": "keeper"}

    def work(self, title: str, command: str = "true", assignee: str = "keeper") -> None:
        """A task of the shop's in progress; TASK means it from here on."""
        context = json.dumps({"command": command})
        words = ("--project", "shop", "--assignee", assignee, "--status", "in_progress", "--context", context)
        made = Toryo(self.directory, self.environment).json("task", "add", title, *words)
        self.words["TASK"] = str(made["task_id"])

    def unread(self) -> list[str]:
        return [block for block in self.blocks if not self.read_so_far[block]]

    def end(self) -> None:
        for process in self.running:
            process.end()


def _lines(block: str) -> list[str]:
    joined = block.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
