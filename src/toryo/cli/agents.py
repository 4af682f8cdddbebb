"""`toryo agent …`: agents that can be given work. An agent is an identity; a Coordinator starts its processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from toryo import provider_options
from toryo.chosen_ids import MOST_REPLICAS
from toryo.cli import agent_run, clearing, edits, output, shell_completion, wider_rights
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Passing, Read, sends

if TYPE_CHECKING:
    from toryo.formats.yaml_documents import Document

group = typer.Typer(help="Create and edit agents.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, argument("AGENT", "The agent's id.", complete=shell_completion.agents)]
ROLES = "Workers do tasks, managers divide and assign them, owners may do everything."


def _text(given: str | None) -> str | None:
    """The words themselves, or those in the file after an `@`."""
    if given is None or not given.startswith("@"):
        return given
    from toryo import untrusted_files

    return untrusted_files.text(Path(given[1:]).expanduser())


def _options(given: str | None, single: list[str] | None) -> dict[str, Any] | None:
    """The options of `--options`, then each `--option KEY=VALUE`; None removes one.

    What is declared as a text is taken as it was typed: `account=007` is no number.
    """
    if given is None and not single:
        return None
    file = given[1:] if given is not None and given.startswith("@") else None
    document = _yaml(_text(given) or "{}", file or "--options")
    options = document.data
    if not isinstance(options, dict):
        raise Misuse("--options must be a mapping.", "Write KEY: VALUE, or @FILE with a mapping.")
    for each in single or []:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise Misuse(f"{each!r} is not an option.", "Write --option KEY=VALUE, or KEY= to remove it.")
        plain = value and name.strip() in provider_options.TEXTS
        options[name.strip()] = value if plain else _yaml(value, f"--option {name}").data
    _refuse_wrong_plans(options, document)
    # Dates and the like become the text they were written as: what is sent is JSON.
    clean: dict[str, Any] = json.loads(json.dumps(options, default=str))
    return clean


_DESCRIBED = {
    "name": option("NAME", "Its display name (default: its id)."),
    "reports_to": option("AGENT", "The agent or person it reports to."),
    "provider": option("NAME", "The program that runs it: playbook, command, …"),
    "model": option("NAME", "The model it uses (default: that of the program)."),
    "system_prompt": Read(_text, prompt=option("TEXT|@FILE", "Its system prompt, or @ and the file that contains it.")),
    "agent_type": option("TYPE", "The queue it serves."),
    "capabilities": Annotated[list[str] | None, option("WORD", "What it is good at; repeatable.")],
    "max_parallel_tasks": Annotated[
        int | None,
        option(
            "N",
            "How many tasks may be in progress for it at once in a project. One process works on them, one after the "
            "other: for parallel work, add agents.",
            min=1,
        ),
    ],
    "provider_options": Read(
        _options,
        options=option("YAML|@FILE", "Options of its provider, for example a playbook."),
        option=Annotated[
            list[str] | None, option("KEY=VALUE", "One option of its provider (repeatable); KEY= removes it.")
        ],
    ),
}


def add(app: typer.Typer) -> None:
    agent_run.add_to_agents(group)
    app.add_typer(group, name="agent")


@command(group, "add")
@sends(
    "create_agent",
    id=Annotated[str, argument("ID", "Its id: 1 to 64 characters of a-z 0-9 . _ -")],
    role=Annotated[Literal["worker", "manager", "owner"], option("worker|manager|owner", ROLES)],
    kind=(Annotated[Literal["ai", "human"], option("ai|human", "A program or a person.")], "ai"),
    **_DESCRIBED,
    projects=Annotated[list[str] | None, option("PRJ", "A project it belongs to; repeatable.")],
)
def add_agent(
    here: Here,
    body: dict[str, Any],
    count: Annotated[int, option("N", "Make several of it: ID-1, ID-2, …", min=1, max=MOST_REPLICAS)] = 1,
    yes: wider_rights.YesOfAgents = False,
) -> None:
    """Create an agent. Its passkey is printed only once."""
    body["provider_options"] = _without_removed(body.get("provider_options"))
    answers = []
    for number in range(1, count + 1):
        numbered = {"id": f"{body['id']}-{number}"} if count > 1 else {}
        answer = wider_rights.send(here, "POST", "/agents", {**body, **numbered}, yes=yes or number > 1)
        answers.append(answer)
        if not here.json:
            made = f"created agent {answer['agent_id']}{_may(answer['agent'])}"
            _print_made(answer, made, last=number == count)
    if here.json:
        output.document(answers[0] if count == 1 else {"success": True, "agents": answers})


def _print_made(answer: dict[str, Any], made: str, *, last: bool) -> None:
    """People sign in by a link; programs that start by themselves by the passkey."""
    agent = answer["agent"]
    if agent["kind"] == "ai":
        _print_passkey(answer, made, last=last)
        return
    owns = " An owner may do everything on this server." if agent["role"] == "owner" else ""
    output.done(made)
    output.say(f"{agent['agent_id']} signs in with a link: toryo open --person {agent['agent_id']}.{owns}")


@Passing(group, "/agents").prints("list", "GET")
def _print_all(answer: Mapping[str, Any]) -> None:
    """List all agents."""
    keys = ("agent_id", "role", "kind", "provider", "reports_to", "status")
    columns = ("ID", "ROLE", "KIND", "PROVIDER", "REPORTS TO", "STATUS")
    rows = [[agent.get(key) for key in keys] for agent in answer["agents"]]
    output.table(columns, rows, empty="No agents yet. Add one: toryo agent add ID --role worker")


@command(group, "show")
def show_agent(here: Here, agent: Id) -> None:
    """Show an agent, without its passkey."""
    answer = here.get(f"/agents/{agent}")
    held = [
        f"{cooldown['what']}: {_failed(cooldown)}, until {output.clock(cooldown['until'])}"
        for cooldown in answer.get("cooldowns", [])
    ]
    wider_rights.warn(answer)
    reached = ", ".join(
        f"{each['project_id']}: {each['network']} ({each['setting']})" for each in answer.get("networks", [])
    )
    shown = {**_with_defaults(answer["agent"]), "network": reached, "cooldown": "; ".join(held)}
    here.answer(answer, lambda: output.fields(shown))


def _failed(cooldown: dict[str, Any]) -> str:
    """With the program that it concerns, if one is known."""
    return f"{cooldown['reason']} with {cooldown['program']}" if cooldown["program"] else str(cooldown["reason"])


@command(group, "resume")
def resume_agent(here: Here, agent: Id) -> None:
    """End the cooldown of an agent, and of its accounts. All agents on these can then start."""
    answer = here.send("POST", f"/agents/{agent}/resume")
    here.answer(answer, lambda: _print_ended(here, agent, answer["ended"]))


@command(group, "edit")
@sends(
    "edit_agent",
    role=Annotated[Literal["worker", "manager", "owner"] | None, option("worker|manager|owner", ROLES)],
    **_DESCRIBED,
    replace_options=Annotated[bool, flag("Replace all its options: those not given are removed.", "--replace-options")],
)
def edit_agent(
    here: Here,
    agent: Id,
    body: dict[str, Any],
    project: Annotated[list[str] | None, option("PRJ", "Add it to this project.")] = None,
    leave: Annotated[list[str] | None, option("PRJ", "Remove it from this project.")] = None,
    clear: clearing.OfAgent = None,
    yes: wider_rights.YesOfAgents = False,
) -> None:
    """Change an agent, or the projects it belongs to. Options that are not given stay as they are."""
    body = clearing.cleared("agent", clear, body)
    if "replace_options" in body:
        body["provider_options"] = _without_removed(body.get("provider_options")) or {}
    if not (body or project or leave):
        raise Misuse("Nothing to change.", "See `toryo agent edit --help`.")
    before = here.get(f"/agents/{agent}")["agent"]
    changes = wider_rights.patch(here, f"/agents/{agent}", body, yes=yes)["changes"] if body else []
    moved = [here.send("POST", f"/projects/{each}/members/{agent}")["changed"] for each in project or []]
    moved += [here.send("DELETE", f"/projects/{each}/members/{agent}")["changed"] for each in leave or []]
    after = here.get(f"/agents/{agent}")
    told = edits.edit_line(agent, {**before, "moved": False}, {**after["agent"], "moved": any(moved)}, changes)
    here.answer({**after, "changes": changes}, lambda: output.done(told))


def _refuse_wrong_plans(options: dict[str, Any], document: Document) -> None:
    """A playbook or script that is written out here; one in a file is read where the agent is started."""
    from toryo.formats import plan_options

    for _, mistakes in plan_options.mistakes(options, document):
        raise Misuse(str(mistakes), "Nothing was changed.")


def _yaml(text: str, what: str) -> Document:
    from toryo.formats import yaml_documents

    try:
        document = yaml_documents.read(text, what)
        document.fail_if_mistaken()
        return document
    except yaml_documents.Mistakes as mistakes:
        raise Misuse(str(mistakes), "Write a mapping, or @FILE with one.") from None


def _without_removed(options: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without those to remove: where there are none yet, there is nothing to remove."""
    return None if options is None else {name: option for name, option in options.items() if option is not None}


def _may(agent: dict[str, Any]) -> str:
    options = agent.get("effective_options", {})
    commands = f"; commands: {', '.join(options['commands'])}" if options.get("commands") else ""
    return f" (permissions: {options['permissions']}{commands})" if options.get("permissions") else ""


def _with_defaults(agent: dict[str, Any]) -> dict[str, Any]:
    """With the options that hold because nothing else is said, and what is wrong with them."""
    said, holds = agent["provider_options"], agent["effective_options"]
    by_default = {f"  {name}": f"{value} (default)" for name, value in holds.items() if name not in said}
    mistakes = " ".join(agent["mistakes"])
    hidden = ("effective_options", "mistakes")
    kept = {name: value for name, value in agent.items() if name not in hidden}
    return {**kept, **by_default, "not started": mistakes}


def _print_ended(here: Here, agent: str, ended: list[str]) -> None:
    """What was ended, and what follows: something else may hold it still."""
    if not ended:
        output.say(f"{agent} is not in a cooldown.")
    for each in ended:
        held = f"the wait for {each}" if each.startswith("account") else f"the cooldown for its {each} work"
        output.done(f"ended {held}")
    for decision in here.get(f"/agents/{agent}/why")["decisions"]:
        output.say(f"{agent} in {decision['project_id']} ({decision['purpose']}): {decision['explanation']}")
    output.say(f"Details: toryo why {agent}")


def _print_passkey(answer: Mapping[str, Any], what: str, *, last: bool = True) -> None:
    output.done(what)
    output.fields({"passkey": answer["passkey"]})
    if last:
        output.say("Save the passkey: it is shown only once. Agents that a Coordinator starts do not need it.")


_NOW = "{agent_id} is {agent[status]}"
_one = Passing(group, "/agents/{agent_id}", agent_id=Id)


@_one.prints("passkey", "POST /passkey")
def _print_new(answer: Mapping[str, Any]) -> None:
    """Give an agent a new passkey. The old one stops working."""
    _print_passkey(answer, f"new passkey for {answer['agent_id']}")


_one.says("activate", "POST /activate", "Activate an agent, so that it can get work and start again.", _NOW)
_one.says(
    "deactivate", "POST /deactivate", "Deactivate an agent. It is no longer started, and its processes stop.", _NOW
)
