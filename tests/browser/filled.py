"""A site with something of everything in it, in English or Japanese: what tests of accessibility and screenshots see.

A shop is rebuilt in a git repository by a small team of scripted agents: some have finished, some are at work until
`Filled.gate` is opened, one is blocked, one has failed, one asks for a task that waits for approval.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.browser.texts import TEXTS, Texts
from tests.scenarios import chats
from tests.scenarios.chats import Chat
from tests.scenarios.sites import Gate, Site

PROJECT = "shop"


@dataclass
class Filled:
    """`tasks`: ids by the name that `texts` gives a title to."""

    site: Site
    texts: Texts
    gate: Gate
    tasks: dict[str, str] = field(default_factory=dict)

    def title(self, name: str) -> str:
        return self.texts.titles[name]


def fill(site: Site, language: str = "en") -> Filled:
    """Returns when the site is filled."""
    found = Filled(site, TEXTS[language], site.gate("fill"))
    _project(found, language)
    _team(found)
    site.coordinator()
    _work(found)
    _talk(found)
    return found


def _project(found: Filled, language: str) -> None:
    texts = found.texts
    directory = found.site.directory / "projects" / PROJECT
    directory.mkdir(parents=True)
    body = {
        "id": PROJECT,
        "name": texts.project,
        "description": texts.about,
        "working_directory": str(directory),
        "settings": {
            "language": language,
            "isolation": "worktree",
            "commands_from": "managers",
            "budget_per_day": 20,
        },
    }
    found.site.people.rest("POST", "/projects", body)
    _repository(directory)


def _repository(directory: Path) -> None:
    (directory / "shop").mkdir()
    (directory / "shop" / "prices.py").write_text(PRICES)
    (directory / "README.md").write_text("# Shop\n\nSells things.\n")
    _git(directory, "init", "--quiet", "--initial-branch=main")
    _git(directory, "add", "--all")
    _git(directory, "commit", "--quiet", "--message=The shop as it was")


def _git(directory: Path, *words: str) -> None:
    person = ("-c", "user.name=Person", "-c", "user.email=person@example.org")
    subprocess.run(["git", *person, *words], cwd=directory, check=True, capture_output=True)


def _team(found: Filled) -> None:
    site, names = found.site, found.texts.names
    chats.person(site, "mika", PROJECT, name=names["mika"])
    for agent_id, superior in (("ren", "owner"), ("yui", "mika"), ("kai", "owner")):
        site.hire(agent_id, PROJECT, name=names[agent_id], reports_to=superior, model="oak-2")
    script = found.texts.script
    chats.talker(site, "sora", PROJECT, name=names["sora"], reports_to="owner", script=script)
    chats.talker(site, "hana", PROJECT, name=names["hana"], reports_to="mika", script=found.texts.player)


def _work(found: Filled) -> None:
    site, texts, gate = found.site, found.texts, found.gate
    _file(found, "release", assignee_id="mika", priority="high", status="in_progress")
    under = {"parent_task_id": found.tasks["release"]}
    _order(found, "prices", "ren", CHANGE, priority="critical", **under)
    site.until_status(found.tasks["prices"], "completed")
    _order(found, "broken", "kai", f"echo '{texts.failure}' >&2; exit 3", **under)
    site.until_status(found.tasks["broken"], "failed", "blocked")
    _order(found, "search", "ren", f"for i in 1 2 3; do echo '{texts.line}' $i; done; {gate}", priority="high", **under)
    _order(found, "pages", "yui", f"echo '{texts.line}' 1; {gate}", **under)
    for name in ("search", "pages"):
        site.until_printed(found.tasks[name], texts.line)
    _file(found, "photos", assignee_id="yui", dependencies=[found.tasks["pages"]], **under)
    _file(found, "manual", assignee_id="kai", description=texts.description)
    site.move(found.tasks["manual"], "blocked", texts.question)
    for number, name in enumerate(("gifts", "speed", "labels")):
        _file(found, name, status="backlog", priority=("low", "medium", "high")[number])
    _file(found, "bank", assignee_id="kai", dependencies=[found.tasks["photos"]], priority="high")


def _file(found: Filled, name: str, **more: Any) -> None:
    found.tasks[name] = found.site.file(PROJECT, found.title(name), **more)


def _order(found: Filled, name: str, agent_id: str, command: str, **more: Any) -> None:
    context = {"command": command}
    description = found.texts.description
    _file(found, name, assignee_id=agent_id, status="in_progress", context=context, description=description, **more)


def _talk(found: Filled) -> None:
    chat = Chat(found.site, PROJECT, "sora")
    for count, said in enumerate(found.texts.said, 1):
        chat.say(said)
        chat.answers(count)
    game = Chat(found.site, PROJECT, "hana")
    game.say(found.texts.play)
    chats.until_conversation(found.site, PROJECT)


PRICES = '''"""What things cost."""


def price(amount, count):
    return amount * count


def label(amount):
    return f"{amount} EUR"
'''
AFTER = '''"""What things cost, with and without tax."""

TAX = 0.19


def price(amount, count, tax=TAX):
    """What a person pays, in cents."""
    return round(amount * count * (1 + tax))


def label(amount):
    return f"{amount / 100:.2f} EUR"
'''
TEST = """from shop.prices import label, price


def test_the_price_has_tax_in_it():
    assert price(100, 2) == 238


def test_a_label_has_cents():
    assert label(238) == "2.38 EUR"
"""
CHANGE = f"""mkdir -p tests
cat > shop/prices.py <<'END'
{AFTER}END
cat > tests/test_prices.py <<'END'
{TEST}END
git mv README.md GUIDE.md
echo 'Prices are in cents.' >> GUIDE.md
echo changed 3 files"""
