"""Keeps src/toryo/locale/*/LC_MESSAGES/toryo.po in step with the sentences of the code (`make translations`).

New sentences get an empty msgstr, those that are gone are dropped. With --check it writes nothing, and says what is not
translated, gone, or names other facts than the English (`make check`).
"""

from __future__ import annotations

import ast
import string
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import polib

import toryo
from toryo import first_prompt, translation_catalogues
from toryo.block_reasons import WORDS
from toryo.deeds import VERBS
from toryo.domain import projects, tasks, worktrees
from toryo.domain.agents import Role
from toryo.domain.projects import Language
from toryo.failures import NATURES
from toryo.operations import translations
from toryo.operations.calls.callers import Login
from toryo.operations.launches import reason_texts
from toryo.operations.overview import prompts
from toryo.workflow import chat_rules, instructions, launch_rules, line_rules, manager_rules, next_action, worker_rules
from toryo.workflow.reasons import REASONS
from toryo.workflow.rules import Rule

SOURCE = Path(toryo.__file__).parent
NOT_TRANSLATED = (
    # Programs for the terminal: English.
    "agents/",
    "cli/",
    "client/",
    "coordinator/",
    "formats/",
    # Refused to agents only, who read English beside their instructions.
    "domain/conversations.py",
    "domain/creation_rules.py",
    "operations/calls/keyless.py",
    "operations/chat/delegation_tools.py",
    "operations/chat/chat_tools.py",
    "operations/launches/check_results.py",
    "operations/launches/claim_starts.py",
    "operations/launches/process_exit_reports.py",
    "operations/launches/running_launches.py",
    "operations/messaging/conversations.py",
    "operations/messaging/delegations.py",
    "operations/overview/prompts.py",
    "operations/overview/resources.py",
    "operations/queue/claims.py",
    "operations/queue/polling.py",
    "operations/queue/agent_registration.py",
    "operations/queue/task_results.py",
    "operations/queue/shared_state.py",
    "operations/sessions/guards.py",
    "operations/sessions/handoffs.py",
    "operations/sessions/notes.py",
    "operations/sessions/agent_sign_in.py",
    "operations/sessions/completion_report.py",
    "operations/sessions/work_tools.py",
    "operations/tasks/acceptance_checks.py",
    "operations/tasks/edit_tools.py",
    "operations/tasks/create_tools.py",
    "operations/tasks/below_main_task.py",
    "operations/tasks/manager_tools.py",
    "operations/tasks/queue_tasks.py",
    "operations/tasks/request_tools.py",
    "operations/worktrees/coordinator_reports.py",
    "storage/shared_state_redis.py",
    "storage/shared_state.py",
    # Refused to authors of programs that use the API.
    "operations/calls/credential_verification.py",
    "operations/calls/permissions.py",
    "operations/overview/help.py",
    "server/event_stream.py",
    "server/rest.py",
    "server/mcp_tools.py",
)
"""Files whose refusals are never shown on the dashboard. A translation that exists anyway is used."""
STATES: tuple[type[Enum], ...] = (tasks.Status, projects.Status, tasks.Approval, Role, Login, worktrees.Kind)
_SAYING = {"say", "constant"}
_REFUSING = {"Refusal", "_invalid", "_refusal"}

Key = tuple[str, str]
"""Context and English text."""


def main() -> int:
    if "--check" in sys.argv:
        found = problems()
        print("\n".join(found))
        return 1 if found else 0
    for language in set(Language) - {Language.ENGLISH}:
        update(language)
    return 0


def wanted() -> dict[Key, str]:
    """The texts to translate, each with the file of the package that has it."""
    found = {("", text): where for text, where in (*_tables(), *_sentences()) if text}
    found |= {("pydantic", kind): "mistakes in values" for kind in own_mistakes()}
    found |= {("together", translations.pair_of(by)): "domain/wording.py" for by in _separators()}
    for states in STATES:
        found |= {(translations.context_of(states), str(state.value)): "names of states" for state in states}
    return found


def update(language: Language) -> None:
    """Writes the catalogue again, in the order of the files."""
    old = _entries(language)
    places = _kept(old) | wanted()
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.metadata = {"Language": language.value, "Content-Type": "text/plain; charset=UTF-8"}
    for key, place in sorted(places.items(), key=lambda found: (found[1], found[0])):
        context, text = key
        kept = old.get(key)
        said = "" if kept is None else kept.msgstr
        flags = ["python-brace-format"] if fields(text) else []
        catalogue.append(polib.POEntry(msgctxt=context or None, msgid=text, msgstr=said, comment=place, flags=flags))
    path = translation_catalogues.catalogue_file(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(path))


def _entries(language: Language) -> dict[Key, polib.POEntry]:
    path = translation_catalogues.catalogue_file(language)
    found = polib.pofile(str(path)) if path.exists() else ()
    return {(entry.msgctxt or "", entry.msgid): entry for entry in found if entry.msgid}


def problems() -> list[str]:
    """What a translator has to do, a line each; empty when all catalogues are complete."""
    found: list[str] = []
    places = wanted()
    for language in set(Language) - {Language.ENGLISH}:
        said = translation_catalogues.texts(language)
        old = _entries(language)
        found += [f"{language}: not translated ({places[key]}): {key[1]}" for key in places if key not in said]
        kept = _kept(old)
        found += [f"{language}: no longer said: {key[1]}" for key in old if key not in places and key not in kept]
        found += [
            f"{language}: names other facts than the English: {text}"
            for (context, text), told in said.items()
            if context != "pydantic" and fields(told) != fields(text)
        ]
    return sorted(found)


def _kept(old: dict[Key, polib.POEntry]) -> dict[Key, str]:
    """Translations that nothing asks for and that are used: of pydantic's own mistakes, and of what agents read."""
    texts = {
        node.value: where
        for where, nodes in reversed(_nodes().items())
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    kept = {key: "mistakes in values" for key in old if key[0] == "pydantic"}
    return kept | {key: texts[key[1]] for key in old if not key[0] and key[1] in texts}


def fields(template: str) -> set[str]:
    """The facts that a template names."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def own_mistakes() -> dict[str, set[str]]:
    """The kinds of mistakes in values that Toryo adds to pydantic's, and their facts."""
    errors = [call for _, call in _calls(()) if _name(call) == "PydanticCustomError"]
    texts = [[argument.value for argument in call.args if isinstance(argument, ast.Constant)] for call in errors]
    return {str(kind): fields(str(said)) for kind, said in texts}


def _sentences() -> Iterator[tuple[str, str]]:
    for where, call in _calls(NOT_TRANSLATED):
        arguments = call.args[:1] if _name(call) in _SAYING else call.args if _name(call) in _REFUSING else []
        for argument in arguments:
            for text in _texts(argument):
                yield str(text.value) if isinstance(text, ast.Constant) else ast.unparse(text), where


def _separators() -> set[str]:
    """What `together` puts between texts: its second argument, or a blank."""
    given = [call.args[1] for _, call in _calls(()) if _name(call) == "together" and len(call.args) > 1]
    return {" "} | {ast.literal_eval(text) for argument in given for text in _texts(argument)}


def _tables() -> Iterator[tuple[str, str]]:
    """Sentences that stand in tables, and where."""
    tables = {
        "operations/launches/reason_texts.py": [reason_texts.STEPS],
        "block_reasons.py": [dict(WORDS)],
        "operations/overview/prompts.py": [prompts.TEXTS],
        "workflow/instructions.py": [instructions.TEXTS],
    }
    yield from ((text, where) for where, them in tables.items() for table in them for text in table.values())
    for each in REASONS.values():
        said = (each.words, each.remedy, each.released_by, each.sooner, each.cause)
        yield from ((text, "workflow/reasons.py") for text in said if text)
    yield from ((each.label, "deeds.py") for each in VERBS.values())
    parts = (*first_prompt.STARTED.values(), *first_prompt.BY_HAND.values())
    yield from ((text, "first_prompt.py") for text in (first_prompt.FIXED, *parts, first_prompt.REMINDER))
    natures = (text for nature in NATURES.values() for text in (nature.words, nature.people, nature.guarded))
    yield from ((text, "failures.py") for text in natures if text is not None)
    rules: dict[str, list[Sequence[Rule[Any, Any]]]] = {
        "launch_rules.py": [*(rows for _, rows in launch_rules.TASK_TABLE), launch_rules.CHAT_ROWS],
        "line_rules.py": [line_rules.LINE_ROWS],
        "next_action.py": [next_action.FIRST_ROWS],
        "worker_rules.py": [worker_rules.WORKER_ROWS],
        "manager_rules.py": [manager_rules.MANAGER_ROWS],
        "chat_rules.py": [chat_rules.CHAT_ROWS],
    }
    yield from ((rule.words, f"workflow/{where}") for where, them in rules.items() for rows in them for rule in rows)


def _calls(without: tuple[str, ...]) -> Iterator[tuple[str, ast.Call]]:
    for where, nodes in _nodes().items():
        if not where.startswith(without):
            yield from ((where, node) for node in nodes if isinstance(node, ast.Call))


@cache
def _nodes() -> dict[str, list[ast.AST]]:
    """Calls and constants of every file of the package, by its path there."""
    return {
        path.relative_to(SOURCE).as_posix(): [
            node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call | ast.Constant)
        ]
        for path in sorted(SOURCE.rglob("*.py"))
    }


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", "")


def _texts(node: ast.expr) -> Iterator[ast.expr]:
    """Both of a choice, else the one."""
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        yield node


if __name__ == "__main__":
    sys.exit(main())
