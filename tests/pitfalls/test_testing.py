"""Pitfalls F124 to F132: rules for these tests themselves, most of them as lints over every file of the suite."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.databases import empty
from tests.environments import clean_environment
from tests.obedience import crew_works
from tests.scenarios.sites import Site
from tests.stories import World
from toryo.domain.tasks import CLOSED
from toryo.operations.calls.catalogue import catalogue
from toryo.storage.engine.database import Database

SUITE = Path(__file__).parents[1]

Function = ast.FunctionDef | ast.AsyncFunctionDef


# --- what stories and scenarios begin with ---------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.pitfall("F124")
def test_f124_no_result_can_be_seeded_because_tasks_are_filed_open_and_closed_by_moves_alone(world: World) -> None:
    world.crew(workers=1)
    offered = set(catalogue()["file_task"].input_schema["properties"]["status"]["enum"])
    assert not offered & {each.value for each in CLOSED}
    for status in CLOSED:
        wanted = {"project_id": world.project_id, "title": "x", "status": status.value}
        world.owner.refused("file_task", "validationError", **wanted)
    task = world.task("w1")
    for field in ("result", "summary", "error", "completed_at"):
        assert world.show(task)[field] is None
        world.owner.refused("edit_task", "validationError", task_id=task, **{field: "done"})


@pytest.mark.pitfall("F125")
def test_f125_a_second_story_finds_nothing_of_the_first(fresh: Database) -> None:
    first = World(fresh)
    before = first.rows()
    first.crew(workers=1)
    first.task("w1")
    first.start("w1").report()
    assert first.rows() != before
    empty(fresh)
    again = World(fresh).rows()
    assert again.pop("directory") != before.pop("directory")  # a stamp is never used again
    assert again == before


@pytest.mark.pitfall("F130")
def test_f130_the_same_story_has_the_same_events_every_time(fresh: Database) -> None:
    assert len({_told(fresh) for _ in range(8)}) == 1


def _told(database: Database) -> str:
    """Everything that happens while obedient agents do a task of two levels."""
    empty(database)
    world = World(database, seed=130)
    world.crew(workers=2)
    main = world.task("boss")
    crew_works(world)
    assert world.status(main) == "completed"
    return "\n".join(repr({**event, "sequence": "in order"}) for event in world.events())


@pytest.mark.pitfall("F132")
def test_f132_a_site_has_nothing_of_the_machine_it_runs_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale lock, another data directory, settings of the shell: none of it decides what a scenario sees."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    monkeypatch.setenv("TORYO_DATA_DIR", str(foreign))
    monkeypatch.setenv("TORYO_TOKEN", "tpt_foreign")
    monkeypatch.chdir(foreign)
    found = clean_environment(tmp_path)
    assert [name for name in found if name.startswith("TORYO_")] == []
    assert found["HOME"] == str(tmp_path)
    with Site(tmp_path) as site:
        assert site.people.rest("GET", "/projects")["projects"] == []
        assert site.people.rest("GET", "/status")["coordinators"] == []
        assert site.agents() == []
        assert list(foreign.iterdir()) == []
    assert not (site.data / "server.json").exists()


# --- lints -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A node of a test file, and the function it stands in."""

    file: Path
    node: ast.AST
    function: str

    def __str__(self) -> str:
        line = getattr(self.node, "lineno", 0)
        return f"{self.file.relative_to(SUITE)}:{line} in {self.function}: {ast.unparse(self.node)[:80]}"


def places(*kinds: type[ast.AST], where: str = "", under: Path = SUITE) -> Iterator[Place]:
    """Every node of these kinds in the suite, in the files that have something like `where` in them."""
    for file in sorted(under.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if re.search(where, text):
            yield from _within(file, _parsed(text), kinds)


@pytest.fixture(scope="module", autouse=True)
def parsed_suite() -> None:
    """All files, once."""
    for file in SUITE.rglob("*.py"):
        _parsed(file.read_text(encoding="utf-8"))


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _within(file: Path, module: ast.Module, kinds: tuple[type[ast.AST], ...]) -> Iterator[Place]:
    statements = all(issubclass(each, ast.stmt) for each in kinds)
    left: list[tuple[ast.AST, str]] = [(module, "")]
    while left:
        node, function = left.pop()
        for child in ast.iter_child_nodes(node):
            if statements and isinstance(child, ast.expr):
                continue  # no statement stands in one
            if isinstance(child, kinds):
                yield Place(file, child, function)
            left.append((child, child.name if isinstance(child, Function) else function))


def told(found: Iterator[Place]) -> str:
    return "\n".join(map(str, found))


@pytest.mark.pitfall("F126")
def test_f126_no_assertion_is_always_true() -> None:
    assert told(place for place in places(ast.Assert) if _always_true(place.node.test)) == ""  # type: ignore[attr-defined]


def _always_true(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_always_true(node) for node in test.values)
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name | ast.Constant):
        return ast.dump(test.left) == ast.dump(test.comparators[0])
    return isinstance(test, ast.Constant | ast.Tuple | ast.JoinedStr | ast.Lambda)


@pytest.mark.pitfall("F126")
def test_f126_no_test_is_a_placeholder() -> None:
    assert told(test for test in _tests() if all(map(_says_nothing, test.node.body))) == ""  # type: ignore[attr-defined]


def _tests(under: Path = SUITE) -> Iterator[Place]:
    found = places(ast.FunctionDef, ast.AsyncFunctionDef, under=under)
    return (place for place in found if place.node.name.startswith("test_"))  # type: ignore[attr-defined]


def _says_nothing(statement: ast.stmt) -> bool:
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return constant or isinstance(statement, ast.Pass)


@pytest.mark.pitfall("F126")
def test_f126_nothing_is_skipped_without_a_reason_and_nothing_is_expected_to_fail() -> None:
    """With TORYO_TEST_REQUIRE=all, as CI runs it, a skip is a failure."""
    words = "skip|xfail"
    skips = [
        place for place in places(ast.Call, where=words) if _named(place.node) in ("skip", "skipif", "importorskip")
    ]
    assert skips, "the one for machines without PostgreSQL is found"
    assert told(skip for skip in skips if not _has_reason(skip.node)) == ""
    calls = {id(skip.node.func) for skip in skips}  # type: ignore[attr-defined]
    marks = [*places(ast.Attribute, where=words)]
    bare = (place for place in marks if _mark(place.node) and id(place.node) not in calls)
    assert told(each for each in bare if "(" not in ast.unparse(each.node)) == ""
    assert told(place for place in marks if place.node.attr == "xfail") == ""  # type: ignore[attr-defined]


def _named(call: ast.AST) -> str:
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func) if isinstance(call.func, ast.Attribute) else ""
    return name.rpartition(".")[2] if name.startswith("pytest.") else ""


def _mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "skip" and ast.unparse(node) == "pytest.mark.skip"


def _has_reason(call: ast.AST) -> bool:
    assert isinstance(call, ast.Call)
    said = {keyword.arg: keyword.value for keyword in call.keywords}
    reason = said.get("reason") or (call.args[0] if call.args and _named(call) == "skip" else None)
    return reason is not None and not (isinstance(reason, ast.Constant) and not str(reason.value).strip())


MAY_LOOK_AGAIN = frozenset({"until", "_until", "until_there"})
"""Where nothing gives a signal: a helper of this name looks again, with a bound."""
TIME_IS_THE_POINT = {
    "test_a_call_that_waits_gets_more_time_than_it_asks_the_server_to_wait": "a server that answers late",
    "_do": "a poller's program: this is its work",
    "_go_elsewhere": "a poller's program rests before it tries another server, as clients do",
    "sleeps": "a machine asleep, for longer than a lease",
    "away": "a server that is away, or a machine asleep, for longer than a lease",
    "insist": "a client that is to outlive outages rests between its tries",
}


@pytest.mark.pitfall("F126")
def test_f126_no_test_sleeps() -> None:
    """A test waits for what it is about, with a bound. To let others of the same loop run, `sleep(0)`, is no wait."""
    pauses = [place for place in places(ast.Call, where=r"sleep|Event\(\)\.wait") if _pauses(place.node)]
    assert told(pause for pause in pauses if pause.function not in {*MAY_LOOK_AGAIN, *TIME_IS_THE_POINT}) == ""
    unbounded = (pause for pause in pauses if pause.function in MAY_LOOK_AGAIN and not _bounded(pause))
    assert told(unbounded) == ""


def _pauses(call: ast.AST) -> bool:
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    return (name.endswith("sleep") and [*map(ast.unparse, call.args)] != ["0"]) or name.endswith("Event().wait")


def _bounded(place: Place) -> bool:
    """Whether the function compares with a clock, or stands in a time-out."""
    module = _parsed(place.file.read_text(encoding="utf-8"))
    for each in _within(place.file, module, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if each.node.name == place.function:  # type: ignore[attr-defined]
            source = ast.unparse(each.node)
            return "monotonic" in source or "asyncio.timeout" in source
    return False


AT_WORK = (
    "until_printed",
    "_at_work",
    "at_work(",
    "coordinator(says=",
    ".rung(",
    "site.until(",
    "until_status",
    "agents()",
    "working(",
    "process_of(",
    "bakery.launch(",
)
"""Ways of these kits to know that somebody works."""
INTERVENES = ("/pause", ".kill()", ".freeze()", "'blocked'", "'cancelled'", ".leave(")
"""What is done to the server is not meant: a site begins with one that answers."""


@pytest.mark.pitfall("F127")
def test_f127_a_scenario_interferes_only_with_what_it_has_seen_at_work() -> None:
    scenarios = [*_tests(SUITE / "scenarios")]
    assert scenarios
    assert told(scenario for scenario in scenarios if _interferes_blindly(scenario.node)) == ""


def _interferes(line: str) -> bool:
    return any(word in line for word in INTERVENES)


def _interferes_blindly(function: ast.AST) -> bool:
    assert isinstance(function, Function)
    lines = [ast.unparse(node) for node in function.body]
    acts = [number for number, line in enumerate(lines) if "server" not in line and _interferes(line)]
    first = acts[0] if acts else None
    return first is not None and not any(word in line for line in lines[: first + 1] for word in AT_WORK)


@pytest.mark.pitfall("F131")
def test_f131_no_test_counts_tools_by_hand_and_the_reference_is_generated() -> None:
    """What a catalogue holds is said by the declarations; `tests/documents` compares the reference with them."""
    of_one = r"(?s)len\(.{0,200}?(tools|catalogue|operations)"
    counted = (place for place in places(ast.Compare, where=of_one) if _counts_a_catalogue(place.node))
    assert told(counted) == ""


def _counts_a_catalogue(node: ast.AST) -> bool:
    assert isinstance(node, ast.Compare)
    sides = [node.left, *node.comparators]
    numbers = any(isinstance(side, ast.Constant) and isinstance(side.value, int) and side.value > 1 for side in sides)
    counts = [side for side in sides if isinstance(side, ast.Call) and ast.unparse(side.func) == "len"]
    return numbers and any(
        word in ast.unparse(count) for count in counts for word in ("tools", "catalogue", "operations")
    )


def test_the_lints_find_what_they_are_for(tmp_path: Path) -> None:
    """Each lint sees its own offence: a rule that finds nothing because it looks past everything proves nothing."""
    offences = {
        "assert True": _always_true,
        "assert x or True": _always_true,
        "assert 'text'": _always_true,
        "assert x == x": _always_true,
    }
    for source, finds in offences.items():
        (statement,) = ast.parse(source).body
        assert isinstance(statement, ast.Assert)
        assert finds(statement.test), source
    for source in ("time.sleep(1)", "asyncio.sleep(0.01)", "threading.Event().wait(1)"):
        assert _pauses(ast.parse(source, mode="eval").body), source
    for source in ("pytest.skip()", "pytest.mark.skipif(x)", "pytest.skip('')", "pytest.importorskip('x')"):
        assert not _has_reason(ast.parse(source, mode="eval").body), source
    assert _counts_a_catalogue(ast.parse("len(listed.tools) == 34", mode="eval").body)
    (blind,) = ast.parse("def test_x(site):\n    site.people.rest('POST', '/projects/x/pause')").body
    assert _interferes_blindly(blind)
    assert Path(__file__).name in {place.file.name for place in places(ast.Assert)}
