"""`toryo agent …`: who can be given work. An agent is an identity; a Coordinator starts its processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toryo.cli import output
from toryo.cli.failures import Misuse
from toryo.cli.here import Here, command

group = typer.Typer(help="Agents: who can be given work.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id.")]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="What people call it (else its id).")]
ReportsTo = Annotated[str | None, typer.Option("--reports-to", metavar="AGENT", help="Who stands above it.")]
Provider = Annotated[
    str | None, typer.Option("--provider", metavar="NAME", help="The program that runs it: playbook, command, …")
]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME")]
Prompt = Annotated[
    str | None, typer.Option("--prompt", metavar="TEXT|@FILE", help="Its system prompt, or the file that has it.")
]
AgentType = Annotated[str | None, typer.Option("--agent-type", metavar="TYPE", help="The queue it serves.")]
Capabilities = Annotated[
    list[str] | None,
    typer.Option("--capability", metavar="WORD", help="What it is good at; may be given several times."),
]
MaxParallel = Annotated[
    int | None, typer.Option("--max-parallel", min=1, metavar="N", help="How many tasks at a time per project.")
]
Options = Annotated[
    str | None,
    typer.Option("--options", metavar="YAML|@FILE", help="Options of its provider: a playbook, for example."),
]


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="agent")


@command(group, "add")
def add_agent(
    here: Here,
    id: Annotated[str, typer.Argument(metavar="ID", help="1-64 of a-z 0-9 . _ -")],
    role: Annotated[Literal["worker", "manager", "owner"], typer.Option("--role", metavar="worker|manager|owner")],
    kind: Annotated[Literal["ai", "human"], typer.Option("--kind", metavar="ai|human")] = "ai",
    name: Name = None,
    reports_to: ReportsTo = None,
    provider: Provider = None,
    model: Model = None,
    prompt: Prompt = None,
    agent_type: AgentType = None,
    capability: Capabilities = None,
    max_parallel: MaxParallel = None,
    options: Options = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", metavar="PRJ", help="A project it belongs to; may be given several times."),
    ] = None,
) -> None:
    """Make an agent; its passkey is printed this once."""
    body = {
        "id": id,
        "role": role,
        "kind": kind,
        "projects": project,
        **_described(name, reports_to, provider, model, prompt, agent_type, capability, max_parallel, options),
    }
    answer = here.send("POST", "/agents", body)
    here.answer(answer, lambda: _print_passkey(answer, f"made agent {answer['agent_id']}"))


@command(group, "list")
def list_agents(here: Here) -> None:
    """All agents."""
    answer = here.get("/agents")
    rows = [
        (each["agent_id"], each["role"], each["kind"], each.get("provider"), each.get("reports_to"), each["status"])
        for each in answer["agents"]
    ]
    columns = ("ID", "ROLE", "KIND", "PROVIDER", "REPORTS TO", "STATUS")
    here.answer(answer, lambda: output.table(columns, rows, empty="No agents yet: toryo agent add ID --role worker"))


@command(group, "show")
def show_agent(here: Here, agent: Id) -> None:
    """One agent: everything about it but its passkey."""
    answer = here.get(f"/agents/{agent}")
    held = [f"{each['what']}: {each['reason']}, until {each['until']}" for each in answer.get("cooldowns", [])]
    here.answer(answer, lambda: output.fields({**answer["agent"], "cools down": "; ".join(held)}))


@command(group, "resume")
def resume_agent(here: Here, agent: Id) -> None:
    """Start it at once though it, or the account of its program, cools down; so may all on that account."""
    answer = here.send("POST", f"/agents/{agent}/resume")
    here.answer(answer, lambda: _print_ended(agent, answer["ended"]))


@command(group, "edit")
def edit_agent(
    here: Here,
    agent: Id,
    role: Annotated[
        Literal["worker", "manager", "owner"] | None, typer.Option("--role", metavar="worker|manager|owner")
    ] = None,
    name: Name = None,
    reports_to: ReportsTo = None,
    provider: Provider = None,
    model: Model = None,
    prompt: Prompt = None,
    agent_type: AgentType = None,
    capability: Capabilities = None,
    max_parallel: MaxParallel = None,
    options: Options = None,
    project: Annotated[
        list[str] | None, typer.Option("--project", metavar="PRJ", help="Joins this project as well.")
    ] = None,
    leave: Annotated[list[str] | None, typer.Option("--leave", metavar="PRJ", help="Leaves this project.")] = None,
) -> None:
    """Change an agent, or the projects it belongs to."""
    described = _described(name, reports_to, provider, model, prompt, agent_type, capability, max_parallel, options)
    body = {key: each for key, each in {"role": role, **described}.items() if each is not None}
    if not (body or project or leave):
        raise Misuse("Nothing to change.", "Name what: see `toryo agent edit --help`.")
    if body:
        here.send("PATCH", f"/agents/{agent}", body)
    for each in project or []:
        here.send("POST", f"/projects/{each}/members/{agent}")
    for each in leave or []:
        here.send("DELETE", f"/projects/{each}/members/{agent}")
    here.answer(here.get(f"/agents/{agent}"), lambda: output.done(f"changed {agent}"))


@command(group, "passkey")
def new_passkey(here: Here, agent: Id) -> None:
    """Give an agent a new passkey; the old one is worth nothing from then on."""
    answer = here.send("POST", f"/agents/{agent}/passkey")
    here.answer(answer, lambda: _print_passkey(answer, f"new passkey for {agent}"))


@command(group, "activate")
def activate_agent(here: Here, agent: Id) -> None:
    """Let an agent be given work and started again."""
    _turn(here, agent, "activate")


@command(group, "deactivate")
def deactivate_agent(here: Here, agent: Id) -> None:
    """Nobody starts it any more; its processes leave."""
    _turn(here, agent, "deactivate")


def _described(
    name: str | None,
    reports_to: str | None,
    provider: str | None,
    model: str | None,
    prompt: str | None,
    agent_type: str | None,
    capability: list[str] | None,
    max_parallel: int | None,
    options: str | None,
) -> dict[str, Any]:
    return {
        "name": name,
        "reports_to": reports_to,
        "provider": provider,
        "model": model,
        "system_prompt": _text(prompt),
        "agent_type": agent_type,
        "capabilities": capability,
        "max_parallel_tasks": max_parallel,
        "provider_options": _options(options),
    }


def _text(given: str | None) -> str | None:
    """The words themselves, or those in the file after an `@`."""
    if given is None or not given.startswith("@"):
        return given
    return Path(given[1:]).expanduser().read_text(encoding="utf-8")


def _options(given: str | None) -> dict[str, Any] | None:
    text = _text(given)
    if text is None:
        return None
    import yaml

    try:
        options = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Misuse(f"--options is no YAML: {error}", "Write a mapping, or @FILE with one.") from None
    if not isinstance(options, dict):
        raise Misuse("--options is no mapping.", "Write KEY: VALUE, or @FILE with a mapping.")
    # Dates and the like become the text they were written as: what is sent is JSON.
    clean: dict[str, Any] = json.loads(json.dumps(options, default=str))
    return clean


def _turn(here: Here, agent: str, verb: str) -> None:
    answer = here.send("POST", f"/agents/{agent}/{verb}")
    here.answer(answer, lambda: output.done(f"{agent} is {answer['agent']['status']}"))


def _print_ended(agent: str, ended: list[str]) -> None:
    if not ended:
        output.say(f"{agent} does not cool down. Why it does not run: toryo why {agent}")
        return
    for each in ended:
        held = f"the wait for the {each}" if each.startswith("account") else f"the cooldown for its {each} work"
        output.done(f"ended {held}")
    output.say(f"{agent} starts as soon as a Coordinator has a free slot: toryo why {agent}")


def _print_passkey(answer: dict[str, Any], what: str) -> None:
    output.done(what)
    output.fields({"passkey": answer["passkey"]})
    output.say("Keep the passkey: it is shown this once. Coordinators do not need it.")
