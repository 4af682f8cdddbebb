"""README, tutorials and how-tos do what they say: each block of commands is typed as it stands, or is left out for a
reason that stands here. A block that is added to a page fails this until it is read, too."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.documents import pages
from tests.documents.readers import Reader

pytestmark = pytest.mark.timeout(900, method="signal")

Walk = Callable[[Reader], None]
WALKS: dict[str, Walk] = {}

CHECKOUT = "Works on the checkout that this test is a part of: CI runs make check and make test, not a test of theirs."
ELSEWHERE = "Names machines that are not here; tests/transports, tests/scenarios and deploy's own tests do the same."
OF_OTHERS = "Installs or configures programs of others; tests/clis runs them with the configuration that is shown."
WEB = "Needs a registry of packages on the network."


def walks(page: str) -> Callable[[Walk], Walk]:
    def register(walk: Walk) -> Walk:
        WALKS[page] = walk
        return walk

    return register


@pytest.fixture
def reader(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Reader]:
    somebody = Reader(tmp_path, request.param)
    try:
        yield somebody
    finally:
        somebody.end()


def make_repository(place: Path) -> None:
    for words in (("init", "-b", "main"), ("config", "user.name", "A"), ("config", "user.email", "a@example.org")):
        subprocess.run(["git", *words], cwd=place, check=True, capture_output=True)
    (place / "README.md").write_text("A shop.\n")
    subprocess.run(["git", "add", "README.md"], cwd=place, check=True)
    subprocess.run(["git", "commit", "-m", "first"], cwd=place, check=True, capture_output=True)


def _with_commands() -> list[str]:
    english = [path for path in pages.written() if not path.name.endswith(".ja.md")]
    has = [path for path in english if any(b.language == "sh" for b in pages.blocks(path.read_text(encoding="utf-8")))]
    return [pages.name(path) for path in has]


TUTORIAL = "docs/tutorial.md"


@pytest.mark.parametrize(
    "reader",
    [each if each == TUTORIAL else pytest.param(each, marks=pytest.mark.deep) for each in _with_commands()],
    indirect=True,
)
def test_every_command_of_a_page_works_as_it_is_shown(reader: Reader) -> None:
    page = pages.name(reader.page)
    assert page in WALKS, f"{page} has commands: walk it here"
    WALKS[page](reader)
    assert reader.unread() == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("filed tsk_1a2b3c (todo)\n", "filed tsk_9z8y7x (todo)\n", True),
        ("filed tsk_1a2b3c (todo)\n", "filed tsk_1a2b3c (backlog)\n", False),
        ("a\n", "a\nb\n", False),
        ("a\nb\n", "a\n", False),
        ("a\n…\nc\n…\n", "a\nb\nb\nc\nd\n", True),
        ("a\n…\nc\n", "a\nb\n", False),
        ("     2  2026-11-23 14:03  task.started  …\n", "    12  2026-11-24 09:00  task.started  from=todo\n", True),
        ("◐ in_progress Bake\n✔ completed   Bake\n", "○ todo        Bake\n✔ completed   Bake\n", True),
    ],
)
def test_what_a_page_shows_is_compared_with_what_is_printed(shown: str, printed: str, *, same: bool) -> None:
    assert (pages.differs(shown, printed) == "") is same


def _has_left(reader: Reader, agent: str) -> None:
    """Whoever has reported leaves a moment later; until then it is said to be running."""
    until = time.monotonic() + 60
    while "already_running" in reader.toryo("why", agent).out:
        assert time.monotonic() < until, f"{agent} does not leave"


def _is_merged(reader: Reader, many: int) -> None:
    until = time.monotonic() + 100
    while (listed := reader.toryo("merge-queue", "list").out).count("merged into main") < many:
        assert time.monotonic() < until, listed


# --- the first pages -------------------------------------------------------------------------------------------------


@walks("AGENTS.md")
def _agents(reader: Reader) -> None:
    reader.leave_out("make check ", CHECKOUT)


@walks("README.md")
def _readme(reader: Reader) -> None:
    reader.leave_out("make demo", CHECKOUT)
    reader.leave_out("make setup &&", CHECKOUT)
    place = reader.at("棚 の上", "my-project")
    make_repository(place)
    (place / "Makefile").write_text("test:\n\ttest -d .\n")
    reader.type("git add Makefile && git commit -q -m tests")
    reader.read("toryo init --yes --provider none")
    assert "created project my-project" in reader.read("toryo apply toryo.yaml --yes")
    for task in ("a3", "b3", "c3", "d3"):
        reader.type(f"toryo task watch {task}")
    _is_merged(reader, 12)
    assert reader.read("toryo task list  ").count("✔ completed") == 12
    assert {(place / f"{chain}.txt").read_text() for chain in "abcd"} == {"1\n2\n3\n"}
    reader.read("toryo task request-changes b2")
    _is_merged(reader, 13)
    assert (place / "b.txt").read_text() == "one two three\n"
    reader.read("toryo chat w-1", fails=("toryo chat",))  # there is nobody at a terminal
    reader.leave_out("toryo open", "A link of a browser's; tests/browser opens it.")
    reader.type("toryo project edit my-project --set budget_per_day=5")
    assert "stopped " in reader.read("toryo project pause my-project")
    reader.at("別 の")
    reader.machine.install("claude")
    reader.read("mkdir my-team", "toryo apply", "toryo task", "cat ")
    reader.type("toryo apply toryo.yaml")
    reader.words["TASK"] = reader.task("A tour of this directory")
    reader.type("toryo task move TASK in_progress")
    assert "builder by claude" in reader.type("cat TOUR.md")


@walks("docs/tutorial.md")
def _tutorial(reader: Reader) -> None:
    (reader.machine.place).rmdir()
    reader.read("mkdir bakery && cd bakery")
    reader.save("toryo.yaml")
    reader.read("toryo apply toryo.yaml")
    reader.read('toryo task add "Bake 12 loaves"')
    reader.read("toryo task watch")
    assert "bread for 12" in reader.read("toryo task list")
    assert "task.created" in reader.read("toryo events --after 0")
    _has_left(reader, "baker")
    reader.read("toryo why baker")
    reader.read("toryo logs baker")
    assert "failed" in reader.read('toryo task add "Bake bread"', fails=("toryo task watch",))
    assert "completed" in reader.read("echo dough of rye", TASK=reader.task("Bake bread"))


# --- first teams -----------------------------------------------------------------------------------------------------


@walks("docs/tutorial/first-team-claude.md")
def _first_team(reader: Reader) -> None:
    reader.compares = False  # the page shows what a model has said
    reader.machine.install("claude")
    reader.read("npm install", "npm install")
    reader.read("mkdir cookbook")
    reader.read("toryo up")
    reader.read("toryo apply toryo.yaml")
    reader.words["TASK"] = reader.task("A tour of this directory")
    reader.read("toryo task move TASK")
    reader.read("toryo logs builder --follow")
    assert "TOUR.md is as it should be" in reader.read("cat TOUR.md")
    reader.read('toryo task add "Write a recipe', "toryo chat lead")
    reader.read("toryo why lead")


@walks("docs/tutorial/first-team-gemini.md")
def _gemini(reader: Reader) -> None:
    reader.compares = False
    reader.leave_out("npm install", WEB)
    reader.variables["GEMINI_API_KEY"] = "a-key"
    reader.machine.install("gemini")
    reader.read("mkdir pantry")
    reader.words["TASK"] = "'A tour of this directory'"
    reader.read("toryo up                    # leave")
    reader.read("toryo usage")
    reader.type("toryo down")
    reader.save("coordinator_config.yaml", 1)
    reader.read("toryo up -c coordinator_config.yaml")
    reader.read("toryo why lead")


@walks("docs/tutorial/mixed-team.md")
def _mixed(reader: Reader) -> None:
    reader.compares = False
    reader.variables["GEMINI_API_KEY"] = "a-key"
    for each in ("claude", "codex", "gemini"):
        reader.machine.install(each)
    reader.read("toryo doctor", fails=("toryo doctor",))
    reader.read("mkdir kitchen")
    reader.words["TASK"] = "'A tour of this directory'"
    assert "by codex" in reader.read("toryo up ")
    reader.read("toryo why builder")
    reader.type("toryo agent add helper --role worker --project kitchen")  # nobody starts it, so a person may fail it
    reader.type("toryo task add Lost --project kitchen --assignee helper --status in_progress")
    reader.type("toryo task move Lost failed --reason x")
    assert "failed → in_progress" in reader.read("toryo agent edit builder --provider claude", TASK="Lost")


# --- how to ----------------------------------------------------------------------------------------------------------


@walks("docs/how-to.md")
def _how_to(reader: Reader) -> None:
    reader.shop()
    reader.work("Sweep", "false")
    reader.read("toryo why AGENT")
    reader.read("toryo needs")
    reader.read("toryo schedule add Nightly")
    reader.read("toryo webhook add Issues")
    reader.leave_out("toryo template add", "The page about templates has the file; templates.md is walked.")
    reader.leave_out("toryo open", "A link of a browser's; tests/browser opens it.")
    reader.leave_out("toryo chat AGENT", "A command agent answers that it cannot talk; talk-to-agents.md is walked.")
    reader.work("Mop")
    reader.read("toryo logs AGENT --follow")
    reader.leave_out("toryo simulate ", "simulate.md is walked.")
    assert reader.read("toryo task watch TASK &&").endswith("completed\n")
    reader.work("Dust", assignee="ann")
    reader.read("toryo task edit TASK", "toryo task retry")
    reader.work("Fail", "false")
    reader.settle()
    reader.type("toryo task retry TASK")
    reader.read("toryo project pause PRJ")
    reader.read("toryo usage ")
    reader.read('toryo task add "Fix the tests"')
    reader.leave_out("toryo project edit PRJ --set start", "lines.md is walked.")
    reader.leave_out("toryo project edit PRJ --set isolation", "worktrees.md is walked.")
    reader.leave_out("toryo playbook check", "playbooks.md is walked.")
    (reader.directory / "ann.md").write_text("You are Ann.")
    reader.machine.install("claude")
    reader.type("toryo agent deactivate ann")
    reader.read("toryo doctor      ", "toryo agent add")
    reader.type("toryo agent add anna --role worker --provider claude --prompt @ann.md --project PRJ")
    reader.save("coordinator_config.yaml")
    reader.machine.put("our-agent", "#!/bin/sh\necho 1.0\n")
    reader.variables["OUR_API_KEY"] = "x"
    reader.read("toryo coordinator check -c", "toryo coordinator -c")
    reader.read("toryo agent add ben")
    reader.read("toryo db backup crew.backup", "toryo db restore", "toryo import")
    reader.leave_out("toryo db move", "Moves data of an older Toryo; tests/cli/test_moving.py does.")
    reader.leave_out("toryo server --database", ELSEWHERE)
    reader.leave_out("toryo coordinator --server", ELSEWHERE)
    reader.read("toryo sessions", "toryo sessions --end")


@walks("docs/how-to/agent-clis.md")
def _agent_clis(reader: Reader) -> None:
    reader.shop()
    reader.type("toryo agent edit keeper --provider claude")
    named = reader.read("toryo agent edit AGENT --option 'commands=", confirms=("toryo agent edit",))
    assert "commands: none → [pytest, ruff check, npm test]" in named
    reader.read("toryo agent edit AGENT --option permissions=read", confirms=("toryo agent edit",))
    reader.leave_out("toryo coordinator check -c coordinator_config.yaml    ", "how-to.md is walked.")
    reader.leave_out("sudo install", "Makes another user.")
    reader.machine.install("claude")
    reader.leave_out("CLAUDE_CONFIG_DIR", "Somebody logs in at a terminal.")
    reader.save("coordinator_config.yaml", 1)
    assert "claude (second)" in reader.read("toryo coordinator check -c coordinator_config.yaml # whether")
    reader.read("toryo doctor ", "toryo logs", fails=("toryo doctor",))


@walks("docs/how-to/dashboard.md")
def _dashboard(reader: Reader) -> None:
    reader.leave_out("toryo up", "A link of a browser's; tests/browser opens it.")


@walks("docs/how-to/failures-and-quotas.md")
def _failures(reader: Reader) -> None:
    reader.shop()
    reader.work("Fail", "false")
    reader.read("toryo why AGENT")
    reader.type("toryo agent edit keeper --provider claude")
    reader.read("toryo agent edit AGENT --option account=second")
    reader.read("toryo agent resume AGENT")
    reader.leave_out("toryo why AGENT      ", "tests/operations/test_unsigned.py ends a launch that does not sign in.")
    reader.read("toryo agent edit AGENT --option 'fallback=")
    reader.read("toryo doctor", fails=("toryo doctor",))


@walks("docs/how-to/many-machines.md")
def _many_machines(reader: Reader) -> None:
    for begins in ("toryo coordinator --server", "TORYO_AUTH__PEOPLE", "createdb", "toryo server --port", "printf"):
        reader.leave_out(begins, ELSEWHERE)
    reader.leave_out("toryo db backup", "how-to.md is walked; tests/storage restores into PostgreSQL.")
    reader.leave_out("toryo server --database postgresql://toryo@db.example.org/toryo --redis", ELSEWHERE)
    reader.leave_out("redis-cli", "Looks into Redis.")
    reader.leave_out("toryo trace", "examples/orchestrator is walked.")


@walks("docs/how-to/mcp-clients.md")
def _mcp_clients(reader: Reader) -> None:
    for each in ("claude", "gemini", "codex"):
        reader.leave_out(f"{each} mcp add", OF_OTHERS)
    reader.leave_out("npx ", WEB)
    reader.shop()
    reader.read("toryo agent add ben")
    assert '"authenticate"' in reader.read('echo \'{"jsonrpc"')


@walks("docs/how-to/notices.md")
def _notices(reader: Reader) -> None:
    reader.leave_out("export TORYO_NOTICES__DASHBOARD_URL", ELSEWHERE)
    reader.leave_out("export TORYO_NOTICES__PUSH_SERVICES", ELSEWHERE)
    reader.leave_out("export TORYO_NOTICES__WEBHOOK_URL", ELSEWHERE)
    reader.leave_out("export TORYO_NOTICES__SMTP_URL", ELSEWHERE)
    reader.shop()
    reader.read("toryo events")


@walks("docs/how-to/questions.md")
def _questions(reader: Reader) -> None:
    reader.compares = False
    reader.shop()

    def ask(title: str) -> None:
        """QUESTION is what the keeper asks about a task of this title, from here on; it has left."""
        question = {"question": f"{title}: which color?", "options": ["Blue", "Red"]}
        context = json.dumps({"ask": question, "command": "echo $TORYO_ANSWER"})
        reader.type(
            f"toryo task add {title} --project shop --assignee keeper --status in_progress --context '{context}'"
        )
        reader.words["QUESTION"] = _asked_by(reader, title)

    ask("Walls")
    reader.read("toryo needs", fails=())
    assert "answered" in reader.read("toryo answer QUESTION Blue")
    assert "completed" in reader.type("toryo task show Walls")
    ask("Doors")
    reader.read("toryo answer QUESTION --withdraw")
    assert "Blue" in reader.read("toryo answers ")
    reader.read('toryo task add "Paint the door"')


def _asked_by(reader: Reader, title: str, reason: str = "waiting_for_answer", but: str = "") -> str:
    """The id of an open question, once its agent has left."""
    until = time.monotonic() + 60
    while True:
        found = json.loads(reader.toryo("answers", "--open", "--json").out)["questions"]
        ids = [each["question_id"] for each in found if each["question"].startswith(title)]
        if ids and ids[0] != but and reason in reader.toryo("why", "keeper", "--json").out:
            return str(ids[0])
        assert time.monotonic() < until, f"nobody asks about {title}"


@walks("docs/how-to/schedules.md")
def _schedules(reader: Reader) -> None:
    reader.compares = False
    reader.shop()
    reader.words["AGENT"] = "keeper"
    reader.type("toryo task add Library --project shop")
    reader.words["TASK"] = reader.task("Library")
    told = reader.read("toryo schedule add")
    assert "next: " in told and "it comes when" in told
    assert "Nightly tests" in reader.read("toryo schedule list")
    assert "resumed" in reader.read("toryo schedule run")


@walks("docs/how-to/webhooks.md")
def _webhooks(reader: Reader) -> None:
    reader.compares = False
    reader.shop()
    reader.words["AGENT"] = "keeper"
    assert "whsec_" in reader.read("toryo webhook add Issues")
    reader.leave_out(
        "BODY=", "Not every machine has curl and openssl; tests/scenarios/test_webhooks.py sends the same."
    )
    assert "Issues" in reader.read("toryo webhook list")
    assert "resumed" in reader.read("toryo webhook pause")


@walks("docs/how-to/memory.md")
def _memory(reader: Reader) -> None:
    reader.compares = False
    reader.shop()
    added = reader.type('toryo memory add "The payment tests need Redis." --project PRJ')
    reader.words["MEMORY"] = added.split()[1]
    assert "Redis" in reader.read("toryo memory list")
    assert "deleted" in reader.read("toryo memory add")


@walks("docs/how-to/playbooks.md")
def _playbooks(reader: Reader) -> None:
    reader.shop()
    reader.save("playbook.yaml")
    reader.read("toryo playbook check")


@walks("docs/how-to/queue-agents.md")
def _queue_agents(reader: Reader) -> None:
    reader.shop()
    reader.leave_out("toryo agent run --type sums", "Runs on; examples/orchestrator is walked.")
    reader.type("toryo agent add adder-1 --role worker --agent-type sums --project shop")
    reader.read("toryo token add --agent adder-1", "export ", "toryo agent run", "toryo token revoke")
    reader.type("toryo agent add chief --role worker --project shop")
    reader.read("toryo token add --agent chief")
    reader.read("toryo queue dead", "toryo queue requeue")
    reader.type("toryo queue agents --project PRJ")


@walks("docs/how-to/sandbox.md")
def _sandbox(reader: Reader) -> None:
    reader.shop()
    reader.read("sudo apt", "sudo")
    reaches = "toryo project edit PRJ --set network"
    printed = reader.read(reaches, confirms=("toryo project edit PRJ",))
    assert "allowlist (network of the project)" in printed


@walks("docs/contributing/scripted-agents.md")
def _scripted(reader: Reader) -> None:
    reader.shop()
    reader.save("mia.yaml")
    reader.save("scripts/mia.yaml")
    reader.read("toryo agent add mia")
    reader.read("toryo coordinator check")
    reader.read('toryo task add "Tell Ann"')


@walks("docs/how-to/signing-in.md")
def _signing_in(reader: Reader) -> None:
    reader.shop()
    reader.read("toryo person add ann", confirms=("toryo person edit",), ann="anna")
    reader.type("toryo person add anna2 --role member --project shop")
    reader.variables["PASSWORD"] = "a few words in a row"
    reader.read("toryo person password ann", "toryo person", ann="anna2")
    reader.leave_out("toryo server   ", ELSEWHERE)
    reader.leave_out("TORYO_ALLOWED_HOSTS", ELSEWHERE)
    reader.leave_out("TORYO_AUTH__OIDC", ELSEWHERE)
    reader.read("toryo token person add", "toryo token person revoke")
    reader.read("toryo token rotate owner", "toryo token revoke")


@walks("docs/how-to/talk-to-agents.md")
def _talk(reader: Reader) -> None:
    reader.shop()
    (reader.directory / "mia.yaml").write_text("script: {otherwise: I am Mia.}")
    (reader.directory / "questions.txt").write_text("Who are you?\n")
    for name in ("mia", "ben"):
        reader.type(f"toryo agent add {name} --role worker --provider script --options @mia.yaml --project shop")
    reader.leave_out("toryo chat mia", "A thread at a terminal; tests/cli/test_chat.py types in one.")
    assert "I am Mia." in reader.read('toryo chat mia --send "What')
    reader.read("toryo chats  ")
    reader.work("Mend", assignee="ann")
    reader.read("toryo task steer")
    reader.leave_out("toryo chat mia --send $", "The shell of this reader is sh, and $'…' is bash's.")
    reader.leave_out("toryo task approve", "Needs an agent that asks; tests/cli/test_approving.py has one.")
    reader.read("toryo conversations  ", "toryo conversations show", "toryo conversations end")
    reader.read("toryo chats --of", "toryo chats show")
    reader.read("toryo why mia")


@walks("docs/how-to/retention.md")
def _retention(reader: Reader) -> None:
    reader.compares = False  # what is due depends on the day
    reader.shop()
    reader.work("Sweep")
    reader.read("toryo db prune --dry-run")


@walks("docs/how-to/simulate.md")
def _simulate(reader: Reader) -> None:
    reader.compares = False  # the pictures show what is printed
    reader.shop()
    reader.work("Sweep")
    shutil.copytree(pages.ROOT / "examples" / "simulations", reader.directory / "examples" / "simulations")
    assert "tasks completed" in reader.read("toryo simulate examples/simulations/day.yaml")
    assert "three-workers" in reader.read("toryo simulate examples/simulations/two-workers.yaml")
    shutil.copy(reader.directory / "examples" / "simulations" / "two-workers.yaml", reader.directory / "toryo.yaml")
    assert "tasks completed" in reader.read("toryo simulate toryo.yaml --from")
    assert "server --data-dir simulated" in reader.read("toryo simulate toryo.yaml --keep")


@walks("docs/how-to/usage-and-budgets.md")
def _usage(reader: Reader) -> None:
    reader.compares = False  # the page shows a team that has used something
    reader.shop()
    reader.work("Sweep")
    reader.read("toryo usage ")
    reader.read("toryo project edit PRJ")
    reader.read("toryo forecast --project PRJ")


@walks("docs/how-to/checks.md")
def _checks(reader: Reader) -> None:
    reader.shop()
    reader.leave_out("toryo project edit PRJ --set required_checks", "Typed line by line: TASK is known in between.")
    reader.type('toryo project edit PRJ --set required_checks="test -s report.txt"')
    assert "test -s report.txt" in reader.type("toryo project show PRJ")
    reader.work("Write the report", "echo Done > report.txt")
    shown = reader.type("toryo task show TASK")
    assert "passed" in shown
    assert "test -s report.txt" in shown
    setting = "toryo project edit PRJ --set required_checks="
    reader.read(f'{setting}\'[{{"command": "make test", "artifacts"', confirms=(setting,))
    required = [{"command": "mkdir -p report; echo fine > report/summary", "artifacts": ["report/**"]}]
    reader.type(f"{setting}'{json.dumps(required)}'")
    reader.work("Sum up", "true")
    kept = reader.json("task", "artifacts", reader.words["TASK"])["artifacts"]
    reader.words["ARTIFACT"] = kept[0]["artifact_id"]
    printed = reader.read("toryo task artifacts TASK")
    assert "report/summary" in printed
    assert f"deleted {reader.words['ARTIFACT']}" in printed
    assert (reader.directory / "evidence" / "report" / "summary").read_text() == "fine\n"
    reader.read("toryo project edit PRJ --clear", confirms=("toryo project edit PRJ --clear",))
    reader.leave_out("toryo project edit PRJ --set worktree_setup='[\"python3", "It fetches packages.")
    sets_up = "toryo project edit PRJ --set worktree_setup"
    reader.read(sets_up, confirms=(sets_up,))
    reader.leave_out('toryo task add "Add the tax"', "Needs a second agent: tests/scenarios/test_reviews.py has one.")
    context = json.dumps({"command": "true"})
    reader.type(
        "toryo task add Prices --project shop --assignee keeper --status in_progress --accept-review owner "
        f"--context '{context}'"
    )
    reader.words["QUESTION"] = first = _asked_by(reader, "Review the work on “Prices”", "in_review")
    reader.read("toryo needs", fails=())
    reader.words["QUESTION"] = _asked_by(reader, "Review the work on “Prices”", "in_review", but=first)
    reader.read("toryo answer QUESTION Approve")
    assert "completed" in reader.type("toryo task show Prices")
    reader.words["TASK"] = reader.json("task", "add", "Paint", "--project", "shop")["task_id"]
    reader.read("toryo task edit TASK --accept")
    assert "max_files: 5" in reader.type("toryo task show TASK")


@walks("docs/how-to/worktrees.md")
def _worktrees(reader: Reader) -> None:
    reader.shop()
    make_repository(reader.directory)
    reader.read("toryo project edit PRJ")
    reader.work("Write", "echo new > 新しい.txt")
    assert "新しい.txt" in reader.read("toryo worktrees ")
    reader.read("toryo task merge TASK  ", "toryo task merge TASK --only", "toryo task merge TASK --into")
    reader.leave_out("cd WORKTREE", "Needs a conflict; tests/cli/test_worktrees.py has one.")
    reader.work("Write again", "echo newer > again.txt")
    reader.settle()
    reader.leave_out("toryo task discard", "Asks at a terminal.")
    reader.type("toryo task discard TASK --yes")


@walks("docs/how-to/conflicts.md")
def _conflicts(reader: Reader) -> None:
    reader.shop()
    make_repository(reader.directory)
    reader.type("toryo project edit PRJ --set isolation=worktree")
    reader.leave_out("toryo task add", "Typed line by line: TASK is known in between.")
    reader.work("Rename the model", "mkdir app; echo new > app/models.py")
    reader.read("toryo project edit PRJ --set conflict_policy=hold")
    reader.leave_out("toryo why TASK", "Needs two agents; tests/scenarios/test_worktrees.py has them.")


@walks("docs/how-to/lines.md")
def _lines(reader: Reader) -> None:
    reader.shop()
    reader.read("toryo project edit PRJ --set start=when_ready")
    reader.leave_out('toryo task add "Write the parser"', "tests/operations/test_lines.py tells both.")
    reader.work("Second", "true")
    reader.leave_out('toryo task add "Third"', "Its line is in tests/operations/test_lines.py.")
    reader.read("toryo project edit PRJ --set dependencies=merged")
    reader.leave_out("toryo agent add w --role", "tests/cli/test_pools.py types them.")


@walks("docs/how-to/run.md")
def _run(reader: Reader) -> None:
    place = reader.at("棚 の上", "shop")
    make_repository(place)
    (place / "Makefile").write_text("test:\n\ttest -d .\n")
    subprocess.run(["git", "add", "Makefile"], cwd=place, check=True)
    subprocess.run(["git", "commit", "-m", "tests"], cwd=place, check=True, capture_output=True)
    reader.save("toryo.yaml")
    assert "3 tasks in 2 steps, at most 2 at once" in reader.read("toryo plan toryo.yaml")
    assert "3 of 3 tasks completed, 3 merged into main" in reader.read("toryo run toryo.yaml", confirms=("toryo run",))
    assert (place / "both.txt").read_text() == "parser\nprinter\n"
    reader.save("release.yaml", 1)
    assert "Release 1.4.0 (w1)" in reader.read("toryo plan release.yaml")
    assert (place / "VERSION").read_text() == "1.4.0 none\n"
    assert "3 of 3 tasks completed" in reader.read("toryo run toryo.yaml --wait 0", confirms=("toryo run",))


@walks("docs/how-to/templates.md")
def _templates(reader: Reader) -> None:
    reader.shop()
    reader.save("release.yaml")
    reader.read("toryo template add")
    assert "Publish 1.4.0" in reader.type("toryo task list")
    reader.read("toryo template show")


@walks("docs/how-to/quotas.md")
def _quotas(reader: Reader) -> None:
    reader.compares = False  # nothing is used yet
    reader.shop()
    reader.type("toryo agent add scribe --role worker --provider claude --project shop")
    reader.read("toryo quota list")
    assert "updated claude" in reader.read("toryo quota edit claude --limit-5h")
    assert "20 %" in reader.read("toryo quota edit claude --reserve 20") + reader.type("toryo quota list")
    reader.read("toryo quota edit claude --low-priority")
    assert '"spare"' in reader.type("toryo quota show claude --json")


@walks("docs/how-to/merge-queue.md")
def _merge_queue(reader: Reader) -> None:
    reader.shop()
    make_repository(reader.directory)
    (reader.directory / "Makefile").write_text("test:\n\ttest -d .\n")
    subprocess.run(["git", "add", "Makefile"], cwd=reader.directory, check=True)
    subprocess.run(["git", "commit", "-m", "tests"], cwd=reader.directory, check=True, capture_output=True)
    reader.type("toryo project edit PRJ --set isolation=worktree")
    reader.read("toryo project edit PRJ --set merge_queue=manual")
    reader.leave_out("toryo merge-queue add TASK", "Typed line by line: TASK and OTHER are known in between.")
    reader.type("toryo merge-queue pause --project PRJ")
    reader.work("Write", "echo new > new.txt")
    reader.settle()
    reader.type("toryo merge-queue add TASK")
    assert "waits for main" in reader.type("toryo merge-queue list")
    reader.type("toryo merge-queue move TASK --last")
    assert "place 1 of 1" in reader.type("toryo why TASK")
    reader.type("toryo merge-queue resume --project PRJ")
    until = time.monotonic() + 60
    while "merged into" not in reader.type("toryo merge-queue list"):
        assert time.monotonic() < until, "it is not merged"
    assert (reader.directory / "new.txt").read_text() == "new\n"


@walks("docs/how-to/pull-requests.md")
def _pull_requests(reader: Reader) -> None:
    reader.shop()
    make_repository(reader.directory)
    reader.type("toryo project edit PRJ --set isolation=worktree")
    reader.leave_out("gh auth login", "It needs an account at GitHub.")
    reader.read("toryo project edit PRJ --set pull_requests=open")
    reader.leave_out("toryo task diff TASK", "Typed line by line: without a remote, the merge is refused.")
    reader.work("Write", "echo new > new.txt")
    reader.settle()
    assert "new.txt" in reader.type("toryo task diff TASK")
    reader.type("toryo task merge TASK", fails=True)
    assert "git remote add" in reader.type("toryo needs")
    assert "pull request" not in reader.type("toryo task show TASK")


# --- examples --------------------------------------------------------------------------------------------------------


def copy_examples(reader: Reader) -> None:
    shutil.copytree(pages.ROOT / "examples", reader.at("checkout") / "examples", ignore=shutil.ignore_patterns("out"))
    (reader.directory / ".toryo").mkdir()


@walks("examples/nightly-maintenance/README.md")
def _nightly(reader: Reader) -> None:
    copy_examples(reader)
    assert "files: 2" in reader.read("toryo up")
    reader.read("toryo task add")
    reader.read("toryo schedule add")


@walks("examples/orchestrator/README.md")
def _orchestrator(reader: Reader) -> None:
    reader.leave_out("toryo up", "Agents that run on in the background; tests/examples/test_orchestrator.py runs them.")


@walks("examples/release-checklist/README.md")
def _release(reader: Reader) -> None:
    copy_examples(reader)
    reader.read("toryo playbook check")
    assert "cancelled" in reader.read("toryo task add")


@walks("examples/translate-a-folder/README.md")
def _translate(reader: Reader) -> None:
    copy_examples(reader)
    reader.read("toryo playbook check")
    reader.read("toryo task add")
    reader.settle()
    reader.read("toryo agent edit into-german", "toryo agent edit")
