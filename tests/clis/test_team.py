"""UC006 and UC003 with real agent programs: a server, a Coordinator, and six of the programs that people use, each set
up as its user does it. Only the model is scripted, so what it says, what it costs and when it is silent is known.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.clis.crews import KEYS, TIME_TO_TELL, Books, Editor, Lookout, ModelSite, contents, meeting, reminded
from tests.clis.policies import Crew, NeverReports, ObedientModel, agent_of, writes
from tests.clis.turns import Answer, CallTool, Policy, Turn

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, method="signal")]

SONNET = "claude-sonnet-4-5"
GEMINI = "gemini-2.5-pro"
"""Named: it would ask a model which model to ask."""


def test_a_manager_on_claude_has_a_text_translated_by_gemini_and_codex_at_the_same_time(tmp_path: Path) -> None:
    home = tmp_path / "projects" / "words"
    both = meeting(2)
    books = Books(
        Crew(
            {
                "lead": Editor(parts={"japanese": "Into Japanese", "chinese": "Into Chinese"}),
                "yuki": both.held(ObedientModel(writes(home / "hello_ja.txt", "こんにちは\n"))),
                "mei": both.held(ObedientModel(writes(home / "hello_zh.txt", "你好\n"))),
            }
        )
    )
    lookout = Lookout(books, tmp_path / "data" / "workspaces")
    with ModelSite(tmp_path, lookout, ("claude", "gemini", "codex"), real=True, **TIME_TO_TELL) as house:
        lookout.server_url = house.url
        house.project("words")
        (home / "hello.txt").write_text("hello\n")
        house.hire("lead", "words", role="manager", provider="claude", model=SONNET)
        house.hire("yuki", "words", provider="gemini", model=GEMINI, reports_to="lead", capabilities=["japanese"])
        house.hire("mei", "words", provider="codex", reports_to="lead", capabilities=["chinese"])
        house.coordinator()
        main = house.file("words", "Translate hello.txt", assignee_id="lead", status="in_progress")
        house.until_status(main, "completed", within=200)
        house.until_idle()

        _is_done(house, home)
        _is_counted(house, books)
        _can_be_read(house)
        _keeps_its_secrets(house, lookout)


def _is_done(house: ModelSite, home: Path) -> None:
    tasks = house.people.rest("GET", "/projects/words/tasks")["tasks"]
    assert {task["status"] for task in tasks} == {"completed"}
    assert sorted((task["assignee_id"], task["title"]) for task in tasks) == [
        ("lead", "Translate hello.txt"),
        ("mei", "All of it"),
        ("mei", "Into Chinese"),
        ("yuki", "All of it"),
        ("yuki", "Into Japanese"),
    ]
    found = {path.name: path.read_text().strip() for path in home.iterdir()}
    assert found == {"hello.txt": "hello", "hello_ja.txt": "こんにちは", "hello_zh.txt": "你好"}
    assert house.history.overlapped("yuki", "mei")
    assert house.history.idle_starts() == house.history.double_launches() == []


def _is_counted(house: ModelSite, books: Books) -> None:
    for agent_id in ("lead", "yuki", "mei"):
        used = [house.used(each["launch_id"]) for each in house.launches(agent_id=agent_id)]
        assert [_tokens(each) for each in used] == books.tokens(agent_id)
    for launch in house.launches(agent_id="lead"):
        cost = house.used(launch["launch_id"])
        assert cost["cost_usd"] == pytest.approx(_of_sonnet(*_tokens(cost)), abs=1e-5)


def _can_be_read(house: ModelSite) -> None:
    for launch in house.launches():
        text = house.log(launch["launch_id"])
        assert re.search(r"^→ \S*authenticate", text, re.MULTILINE), text
        assert re.search(r"^→ \S*(report_completed|get_next_action)", text, re.MULTILINE), text
        assert '{"type"' not in text
    assert "hello_ja.txt" in house.toryo("logs", "yuki")
    assert "hello_zh.txt" in house.toryo("logs", "mei")


def _keeps_its_secrets(house: ModelSite, lookout: Lookout) -> None:
    tokens = {role: house.token(role) for role in ("owner", "coordinator")}
    assert len(lookout.credentials) == len(house.launches()), "each launch has its own"
    secrets = [each.encode() for each in (*KEYS.values(), *tokens.values(), *lookout.credentials)]
    assert [word for word in lookout.words if any(secret in word for secret in secrets)] == []
    meant = {house.data / f"{role}.token" for role in tokens}
    # what a program keeps in the directory of its own that its sandbox gives it goes with the launch
    meanwhile = {path: text for path, text in lookout.generated.items() if ".own/" not in str(path)}
    found = {**dict(contents(house.directory)), **meanwhile}
    assert len(found) > len(meant)
    assert [path for path, text in found.items() if path not in meant and any(chunk in text for chunk in secrets)] == []
    logs = "".join(house.log(launch["launch_id"]) for launch in house.launches()).encode()
    assert [chunk for chunk in secrets if chunk in logs] == []
    assert re.search(rb"\bt(ct|pt|lc|st)_\w{16}", logs) is None
    asked = [repr(request.body).encode() for request in house.endpoint.requests]
    assert [chunk for chunk in asked if any(secret in chunk for secret in secrets)] == []


# --- each of the six --------------------------------------------------------------------------------------------------

OTHERS = {
    "claude": "claude-opus-4-5",
    "gemini": "gemini-2.5-flash",
    "codex": "scripted-2",
    "opencode": "scripted/scripted-2",
    "copilot": "scripted-2",
    "qwen": "scripted-2",
}
"""Models that are nobody's usual one."""


def repeats_itself(turn: Turn) -> Answer:
    """Qwen Code ends a run at the fifth equal call in a row, with an exit code of 1: that is no crash."""
    return CallTool("get_my_task") if turn.results else CallTool("authenticate")


@pytest.mark.timeout(600, method="signal")
def test_each_program_does_a_task_with_its_agents_model_and_who_forgets_to_report_is_reminded(tmp_path: Path) -> None:
    home = tmp_path / "projects" / "house"
    diligent = {name: ObedientModel(writes(home / f"{name}.txt", f"by {name}\n")) for name in OTHERS}
    forgetful: dict[str, Policy] = {name: NeverReports(mind.work) for name, mind in diligent.items()}
    forgetful["qwen"] = repeats_itself
    books = Books(Crew({name: reminded(forgetful[name], diligent[name]) for name in OTHERS}))
    with ModelSite(tmp_path, books, tuple(OTHERS), **TIME_TO_TELL) as house:
        house.project("house")
        for name, model in OTHERS.items():
            house.hire(name, "house", provider=name, model=model)
        tasks = {name: house.file("house", "Build", assignee_id=name, status="in_progress") for name in OTHERS}
        house.coordinator(max_concurrent=2)
        for task_id in tasks.values():
            house.until_status(task_id, "completed", within=250)
        house.until_idle()

        assert {path.name: path.read_text().strip() for path in home.iterdir()} == {
            f"{name}.txt": f"by {name}" for name in OTHERS
        }
        assert {each["agent_id"] for each in house.history.of("launch.reminded")} == set(OTHERS)
        launches = {launch["agent_id"]: launch for launch in house.launches()}
        assert len(launches) == len(house.launches()), "who is reminded goes on with its launch"
        _are_counted({name: house.used(launch["launch_id"]) for name, launch in launches.items()}, books)
        asked = {(agent_of(turn), turn.model) for turn in house.endpoint.turns}
        assert asked == {(name, model.removeprefix("scripted/")) for name, model in OTHERS.items()}
        verified = house.history.of("session.model_reported")
        assert {each["agent_id"] for each in verified} == set(OTHERS), "with or without its vendor's name"


def _tokens(used: dict[str, Any]) -> tuple[int, int, int]:
    return used["input_tokens"], used["output_tokens"], used["cached_tokens"]


def _of_sonnet(read: int, written: int, cached: int) -> float:
    """US dollars, by the prices that Claude Code itself knows."""
    return ((read - cached) * 3 + cached * 0.3 + written * 15) / 1_000_000


def _are_counted(used: dict[str, dict[str, Any]], books: Books) -> None:
    """Both runs of each. Qwen Code itself does not count the one answer at which it ends its run."""
    found = {name: _tokens(each) for name, each in used.items()}
    booked = {name: books.tokens(name)[0] for name in used}
    missing = {name: booked[name][0] - found[name][0] for name in used}
    assert {name: each for name, each in found.items() if name != "qwen"} == {
        name: each for name, each in booked.items() if name != "qwen"
    }
    assert 1000 < missing["qwen"] < 2000, "one answer's"
