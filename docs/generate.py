"""Writes docs/reference/*.md (except conventions.md) and docs/figures/*.svg from the code.

Examples of tools are calls of a story that is told to a real dispatcher (tests/documents/tool_story.py).

With --check it writes nothing, and says which are stale.

Nothing is described here: words come from the declarations themselves, so that the reference cannot disagree.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import figures
import typer
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
FIGURES = ROOT / "docs" / "figures"
NOTE = "<!-- Written by docs/generate.py from the code (make docs): change the code, not this page. -->\n"


# --- the command line -------------------------------------------------------------------------------------------------


def cli() -> str:
    """Every command: what it does, its arguments and options; not its help as printed, which is the library's."""
    from toryo.cli import command_line

    root = typer.main.get_command(command_line.whole())
    everywhere = [param for param in root.params if set(param.opts) & _EVERYWHERE]
    parts = ["# The command line\n", NOTE, _CLI_INTRODUCTION, "## Everywhere\n", _options(everywhere), ""]
    for words, command in _commands(root, "toryo"):
        parts += [f"## `{words}`\n", f"{_paragraph(command.help)}\n"]
        own = [
            param for param in command.params if not set(param.opts) & {*_EVERYWHERE, "--help"} and not _hidden(param)
        ]
        if own:
            parts += [_options(own), ""]
    return "\n".join(parts)


_EVERYWHERE = {"--data-dir", "--server", "--token", "--token-file", "--json", "--version"}
_CLI_INTRODUCTION = """\
What scripts may rely on (exit codes, `--json`, how the server is found) is in [conventions](conventions.md);
`toryo COMMAND --help` says the same as this page.
"""


def _commands(group: Any, words: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        below = getattr(command, "commands", None)
        if below is None or command.invoke_without_command:
            yield f"{words} {name}", command
        if below is not None:
            yield from _commands(command, f"{words} {name}")


def _options(params: Iterable[Any]) -> str:
    rows = [(_written(param), (param.help or "") + (" Required." if param.required else "")) for param in params]
    return _table(("Argument or option", "Meaning"), rows)


def _written(param: Any) -> str:
    """As one types it: `TITLE`, `--set KEY=VALUE`, `-f, --follow`."""
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    names = ", ".join(sorted({*param.opts, *param.secondary_opts}, key=len))
    if param.is_flag:
        return f"`{names}`"
    return f"`{names} {param.metavar or 'VALUE'}`"


def _hidden(param: Any) -> bool:
    return bool(getattr(param, "hidden", False))


def _paragraph(text: str | None) -> str:
    return " ".join((text or "").split())


# --- tools and routes -------------------------------------------------------------------------------------------------


def tools() -> str:
    """Every operation: what it does, who may call it, its parameters, its route."""
    from toryo.operations.calls.catalogue import catalogue
    from toryo.operations.overview.help import FORMER_NAMES
    from toryo.operations.overview.prompts import PROMPTS

    operations = [each for each in catalogue().values() if each.name not in FORMER_NAMES]
    parts = ["# Tools and routes\n", NOTE, _TOOLS_INTRODUCTION, _resources()]
    for title, chosen in (
        ("MCP tools", [operation for operation in operations if operation.tool]),
        ("MCP prompts", [operation for operation in operations if operation.name in PROMPTS]),
        ("What MCP resources are read with", [operation for operation in operations if _of_resources(operation)]),
        (
            "For people: REST only",
            [operation for operation in operations if operation.route is not None and not operation.tool],
        ),
    ):
        parts.append(f"## {title}\n")
        parts += [_operation(each) for each in chosen]
    return "\n".join(parts)


def _of_resources(operation: Any) -> bool:
    from toryo.operations.overview.prompts import PROMPTS

    return operation.context and operation.name not in PROMPTS


def _resources() -> str:
    """The addresses that MCP clients read and follow."""
    from toryo.server.resource_uris import KINDS

    rows = [(f"`{each.template}`", each.description, f"`{each.operation}`") for each in KINDS.values()]
    return f"## MCP resources\n\n{_table(('Address', 'What it is', 'Read with'), rows)}\n"


_TOOLS_INTRODUCTION = """\
An operation is declared once; the MCP tool, the REST route and this page are derived from it. Session tools also take
`session_token`, which is not needed where the connection itself carries a credential. Routes are below `/api/v1`.

`tools/list` is shorter than this page: it shows a caller the tools and parameters of its role, without limits of length
and without descriptions that only repeat a name. What it leaves out is still accepted; `help` with `tool_name`
shows all of a tool. What a tool answers is in `tools/list` at `/mcp?output_schemas=true`.

Every tool has an example: its arguments, and the answer without `success` and `next`. `…` stands for what is left out.
"""


def _operation(operation: Any) -> str:
    lines = [f"### `{operation.name}`\n", f"{operation.summary}\n"]
    from toryo.operations.calls.catalogue import Proof

    facts = [f"Grant: `{operation.grant.value}`"]
    if operation.proof is not Proof.NEVER:
        facts.append(f"proof: {'always' if operation.proof is Proof.ALWAYS else 'where it widens a right'}")
    if operation.route is not None:
        facts.append(f"route: `{operation.route.method} {operation.route.path}`")
    if operation.waits:
        facts.append("may wait")
    lines.append("; ".join(facts) + ".\n")
    rows = list(_parameters(operation.parameters))
    if rows:
        lines += [_table(("Parameter", "Type", "Default", "Meaning"), rows), ""]
    if operation.tool:
        lines.append(_example(operation.name))
    return "\n".join(lines)


@functools.cache
def _examples() -> Mapping[str, Any]:
    sys.path.insert(0, str(ROOT))
    from tests.documents import tool_story

    return tool_story.examples()


def _example(tool: str) -> str:
    """A call of the story and its answer, without what differs from one telling to the next or would fill a page."""
    if tool not in _examples():
        sys.exit(f"{tool} has no example: call it in tests/documents/tool_story.py")
    example = _examples()[tool]
    answer = {key: value for key, value in example.answer.items() if key not in {"success", "next", "version"}}
    named: dict[str, str] = {}
    parts = []
    for title, value in (("Example:", example.arguments), ("Answer:", answer)):
        if value:
            text = _json(_shortened(value))
            text = re.sub(r"\b([a-z]{3})_[0-9a-f]{30,}", r"\1_…", text)
            text = re.sub(r"\b([a-z]{3})_[0-9a-z]{15,}\b", lambda found: _numbered(found, named), text)
            text = re.sub(r"(T\d\d:\d\d:\d\d)\.\d{3}Z", r"\1Z", text)
            parts.append(f"{title}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


def _numbered(found: re.Match[str], named: dict[str, str]) -> str:
    """An id as `tsk_1`: the first of its kind in an example."""
    before = sum(each.startswith(f"{found[1]}_") for each in named.values())
    return named.setdefault(found[0], f"{found[1]}_{before + 1}")


_MOST_KEYS, _MOST_ITEMS, _MOST_LETTERS = 8, 2, 100


def _shortened(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _MOST_LETTERS else value[:_MOST_LETTERS].rstrip() + "…"
    if isinstance(value, list):
        items = [_shortened(each, depth + 1) for each in value[:_MOST_ITEMS]]
        return items if len(value) <= _MOST_ITEMS else [*items, "…"]
    if isinstance(value, dict):
        names = list(value)[: _MOST_KEYS if depth else None]
        kept = {name: _shortened(value[name], depth + 1) for name in names}
        return kept if len(names) == len(value) else {**kept, "…": "…"}
    return value


def _json(value: Any, indent: str = "") -> str:
    """As people write it: on one line what fits there."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= 84 or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts, opening, closing = [_json(each, inner) for each in value], "[", "]"
    else:
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {_json(each, inner)}" for name, each in value.items()]
        opening, closing = "{", "}"
    return opening + "\n" + ",\n".join(inner + part for part in parts) + "\n" + indent + closing


def _parameters(model: type[BaseModel]) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        default = "required" if field.is_required() else _default(field)
        yield f"`{field.alias or name}`", _type(field.annotation), default, field.description or ""


def _numbers_with_ranges(model: type[BaseModel]) -> Iterator[tuple[str, str, str, str]]:
    """The parameters, with the range of each number: `number, 0 to 1`."""
    for (name, kind, default, meaning), field in zip(_parameters(model), model.model_fields.values(), strict=True):
        bounds = dict(_bounds(field))
        most = f" to {bounds['le']:,}" if "le" in bounds else ""
        begins = "" if most else "at least "
        least = f"above {bounds['gt']:,}" if "gt" in bounds else f"{begins}{bounds['ge']:,}" if "ge" in bounds else ""
        yield name, f"{kind}, {least}{most}" if least else kind, default, meaning


def _bounds(declared: Any) -> Iterator[tuple[str, int]]:
    """Limits of a field, and of what it may be."""
    for key in ("gt", "ge", "le"):
        if hasattr(declared, key):
            yield key, getattr(declared, key)
    inside = typing.get_args(declared.annotation) if isinstance(declared, FieldInfo) else typing.get_args(declared)
    for each in (*getattr(declared, "metadata", ()), *getattr(declared, "__metadata__", ()), *inside):
        if not isinstance(each, type):
            yield from _bounds(each)


# --- REST, for readers ------------------------------------------------------------------------------------------------


def api() -> str:
    """Every route that people's programs may call, in one table for each subject."""
    described = json.loads(openapi())
    paths = {path.removeprefix("/api/v1"): methods for path, methods in described["paths"].items()}
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for path, methods in paths.items():
        for method, route in methods.items():
            names = f"{_sent(route, described)} → {_answered(route, described)}".strip()
            row = (f"`{method.upper()} {path}`", route["summary"], names)
            groups.setdefault(_subject(path, methods), []).append(row)
    parts = ["# REST API\n", NOTE, _API_INTRODUCTION]
    for subject in sorted(groups):
        rows = sorted(groups[subject], key=lambda row: (row[0].split()[1], row[0]))
        parts += [f"## `{subject}`\n", _table(("Route", "What it does", "Takes → returns"), rows), ""]
    return "\n".join(parts)


_API_INTRODUCTION = """\
Routes are below `/api/v1`. Send a personal access token as `Authorization: Bearer tpt_…`; make one with
`toryo token person add NAME`. Bodies and answers are JSON; names in bold are required. A refusal has a status of 400 or
above and a body of type `application/problem+json`; its `instruction` says what to do. Lists have `limit` and `cursor`;
`next_cursor` in an answer says that there is a further page. The same in OpenAPI: `GET /api/v1/openapi.json`. What each
parameter means is on [the page of tools](tools.md#for-people-rest-only).
"""


def _subject(path: str, methods: Mapping[str, Any]) -> str:
    """What a path is about: its first name, or what of a project it names; not what is done (`…/pause`)."""
    names = [name for name in path.split("/") if name and not name.startswith("{")]
    act = len(names) == 2 and set(methods) == {"post"}
    of_project = names[0] == "projects" and len(names) > 1 and not act
    return f"/projects/…/{names[1]}" if of_project else f"/{names[0]}"


def _sent(route: Any, described: Any) -> str:
    asked = [each for each in route.get("parameters", ()) if each["in"] == "query"]
    names = {each["name"]: each.get("required", False) for each in asked}
    for content in route.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(content["schema"], described)
        names |= {name: name in schema.get("required", ()) for name in schema.get("properties", {})}
    return ", ".join(f"**`{name}`**" if required else f"`{name}`" for name, required in names.items())


def _answered(route: Any, described: Any) -> str:
    """The names in an answer, without those that any answer may have."""
    answer = next(each for status, each in route["responses"].items() if status.startswith("2"))
    schemas = [_resolved(content.get("schema", {}), described) for content in answer.get("content", {}).values()]
    names = [name for schema in schemas for name in schema.get("properties", {})]
    return ", ".join(f"`{name}`" for name in names if name not in {"success", "next", "notifications_pending"})


def _resolved(schema: Any, described: Any) -> Any:
    while "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


# --- decision tables --------------------------------------------------------------------------------------------------


def tables() -> str:
    """The rule tables by which Toryo decides, in the order in which they are asked."""
    from toryo.domain.requested_changes import CHANGES_REFUSED
    from toryo.workflow import chat_rules, launch_rules, line_rules, manager_rules, next_action, worker_rules

    parts = ["# Decision tables\n", NOTE, _TABLES_INTRODUCTION, "## Should this agent be running?\n"]
    for title, rules in (*launch_rules.TASK_TABLE, ("Chat", launch_rules.CHAT_ROWS)):
        rows = [(rule.row, rule.words, f"**{rule.then.action.value}** `{rule.then.reason}`") for rule in rules]
        parts += [f"### {title}\n", _table(("Row", "When", "Answer"), rows), ""]
    rows = [(rule.row, rule.words, f"stays, `{rule.then.reason}`") for rule in line_rules.LINE_ROWS]
    parts += ["## Does a task in line start?\n", _LINES_INTRODUCTION, _table(("Row", "When", "Answer"), rows), ""]
    parts.append("## What does it do next?\n")
    for title, steps in (
        ("First, every session", next_action.FIRST_ROWS),
        ("A worker", worker_rules.WORKER_ROWS),
        ("A manager", manager_rules.MANAGER_ROWS),
        ("A chat session", chat_rules.CHAT_ROWS),
    ):
        parts += [f"### {title}\n", _table(("Row", "When", "Action", "State"), map(_step, steps)), ""]
    refused = [(f"{number}", each.when, f"`{each.code}`") for number, each in enumerate(CHANGES_REFUSED, 1)]
    parts += ["## Is completed work sent back?\n", _SENT_BACK, _table(("Row", "When", "Refused"), refused), ""]
    return "\n".join([*parts, _TABLES_NOTES])


def _step(rule: Any) -> tuple[str, str, str, str]:
    return rule.row.split()[-1], rule.words, f"`{rule.then.action}`", f"`{rule.then.state}`"


_LINES_INTRODUCTION = """\
A task in `todo` that starts when it is ready (its own `start`, or the project's) is in the line of its agent: by
priority, then age. It leaves the line when nothing of what every start needs is missing, none of these rows applies,
and neither row 16 nor row 17 above would hold its launch.
"""

_SENT_BACK = """\
`request_changes` of a manager makes a subtask that changes the work, unless one of these rows applies. For people, row
1 alone holds. The limits of subtasks hold as for every subtask.
"""

_TABLES_INTRODUCTION = """\
Toryo reads a table from the top: the first row whose condition is true decides, and the last row is always true. The
launch decision, sign-in, `get_next_action` and `toryo why` all use these tables.

| Term | Meaning |
| --- | --- |
| **start**, **hold**, **stop** | Start the agent's program; leave everything as it is; end the running program. |
| task session, chat session | A session that works on a task, and one that only talks. Each is decided separately. |
| main task | A task in progress that others gave to the agent. Subtasks that it created for itself are not. |
| a manager waits | It chose `wait` and ended its process. Toryo starts it again when a row says so. |
| its last look | The last time the manager was told to review the situation or its blocked tasks. |
| awaited delegation | A delegation whose result the task needs before it can be completed. |
| grace period | The time in which a session may end by itself: [`TORYO_GUARDS__STOP_GRACE` and \
`TORYO_GUARDS__PAUSE_GRACE`](settings.md). |
"""


_TABLES_NOTES = """\
## What may surprise

- **Row 8 for what no longer matters.** A task that failed below a cancelled one still counts as failed. The manager is
  started for it once, and its own table then says what is left to do: `report_completion`, if nothing is.
- **A hold that follows a start in the same claim.** A Coordinator's claim decides one agent after the other, and each
  decision sees the starts before it. Row 14 claims a queue task for the first agent, so the second one, which serves
  the same queue, is told `no_in_progress_task`.
- **`toryo why` says start, and the agent goes on.** A session whose lease has expired counts as ended. If the next
  claim of its Coordinator names the process as running, the session continues: nothing had been started in between.
- **An agent without a provider.** Toryo never starts it, so its task stays in progress until someone starts its
  program. `toryo why` says `not_managed`, and after the stall time the task is listed under needs attention.
- **A person's own block or failure.** It is no need: that person knows of it. A manager above is started for it
  (row 8).
"""


# --- settings ---------------------------------------------------------------------------------------------------------


def settings() -> str:
    """The server's settings and a project's."""
    from toryo.domain import projects
    from toryo.settings import Settings

    server = list(_server_settings(Settings, "TORYO_"))
    project = [
        (f"`{field.name}`", _possible(field.default), f"`{_plain(field.default)}`")
        for field in dataclasses.fields(projects.Settings)
    ]
    return "\n".join(
        [
            "# Settings\n",
            NOTE,
            "## The server\n",
            "From the options of `toryo server`, else from the environment, else the default.\n",
            _table(("Variable", "Type", "Default", "Meaning"), server),
            "",
            "## A project\n",
            "Set with `toryo project add --set KEY=VALUE`, `toryo project edit --set KEY=VALUE`, or in `toryo.yaml`.\n",
            _table(("Setting", "Values", "Default"), project),
            "",
        ]
    )


def _server_settings(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _server_settings(annotation, f"{prefix}{name.upper()}__")
            continue
        variable = field.validation_alias if isinstance(field.validation_alias, str) else f"{prefix}{name.upper()}"
        yield f"`{variable}`", _type(annotation), _default(field), field.description or ""


def _possible(default: object) -> str:
    if isinstance(default, enum.Enum):
        return " ".join(f"`{each.value}`" for each in type(default))
    if isinstance(default, tuple):
        return "a list"
    return "a number, or none" if default is None else "a whole number"


# --- toryo.yaml -------------------------------------------------------------------------------------------------------


def manifest() -> str:
    """The keys of toryo.yaml."""
    from toryo.cli import manifest as declared
    from toryo.formats import simulation_format as simulated

    parts = ["# toryo.yaml\n", NOTE, _MANIFEST_INTRODUCTION]
    for title, model in (("projects", declared.Project), ("agents", declared.Agent), ("tasks", declared.Task)):
        rows = list(_parameters(model))
        parts += [f"## `{title}`\n", _table(("Key", "Type", "Default", "Meaning"), rows), ""]
    parts.append(_SIMULATION_INTRODUCTION)
    for title, model in (
        ("simulation", simulated.Simulation),
        ("simulation.defaults", simulated.Agent),
        ("simulation.defaults.tokens", simulated.Tokens),
        ("simulation.coordinator", simulated.Coordinator),
        ("simulation.arrivals", simulated.Arrival),
    ):
        rows = list(_numbers_with_ranges(model))
        parts += [f"## `{title}`\n", _table(("Key", "Type", "Default", "Meaning"), rows), ""]
    return "\n".join(parts)


_SIMULATION_INTRODUCTION = """\
The section `simulation` says how [`toryo simulate`](../how-to/simulate.md) plays the team. `agents` in it has the keys
of `defaults`, by the id of the agent.
"""

_MANIFEST_INTRODUCTION = """\
What `toryo apply FILE` makes true, as often as it is asked: three lists, each of which may be missing. Nothing is ever
removed; a key that is not given leaves what is there alone. [`toryo plan`](../how-to/run.md) shows what it would do,
`toryo run` goes on to the result.

`parameters` is a mapping from names to `{description, default}`. Where the file has it, the texts of its tasks have
`{{name}}` in them; [`--set NAME=VALUE`](../how-to/run.md#the-same-file-with-other-values) says what that is.
"""


# --- coordinator_config.yaml ------------------------------------------------------------------------------------------


def coordinator() -> str:
    """The keys of a Coordinator's file."""
    from toryo.coordinator import config

    parts = ["# coordinator_config.yaml\n", NOTE, _COORDINATOR_INTRODUCTION]
    for title, model in (
        ("", config.Config),
        ("ai_providers.NAME", config.ProviderConfig),
        ("ai_providers.NAME.accounts.ACCOUNT", config.AccountConfig),
        ("ai_providers.NAME.prices.MODEL", config.Price),
        ("projects.PROJECT", config.ProjectConfig),
        ("agents.AGENT", config.AgentConfig),
    ):
        heading = f"## `{title}`\n" if title else "## The file\n"
        parts += [heading, _table(("Key", "Type", "Default", "Meaning"), _numbers_with_ranges(model)), ""]
    return "\n".join(parts)


_COORDINATOR_INTRODUCTION = """\
What this machine adds to what the server knows: which programs start agents, how many at a time, with which logins and
limits. `toryo coordinator -c FILE` and `toryo up -c FILE` read it; `toryo coordinator check -c FILE` says whether it is
right. `${NAME}` is replaced by the environment variable. How programs are set up is in
[agent CLIs](../how-to/agent-clis.md).
"""


# --- how things are written -------------------------------------------------------------------------------------------


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _type(annotation: Any) -> str:
    """A type as a reader says it: `text`, `a list of text`, `low, medium or high`."""
    if annotation in _NAMES:
        return _NAMES[annotation]
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " ".join(f"`{each}`" for each in inside)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(each) for each in inside if each is not type(None))
    if origin is typing.Annotated:
        return _type(inside[0])
    if origin in (list, tuple, set, frozenset):
        return f"list of {_type(inside[0])}" if inside else "list"
    if origin is dict or annotation is dict:
        return "mapping"
    return _type_of_class(annotation)


def _type_of_class(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " ".join(f"`{each.value}`" for each in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "{" + ", ".join(annotation.model_fields) + "}"
    return "any"


_NAMES: Mapping[Any, str] = {
    str: "text",
    SecretStr: "text",
    int: "whole number",
    float: "number",
    bool: "yes or no",
    Path: "path",
}


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    said = "" if value in (None, "", (), [], {}) else _plain(value)
    return f"`{said}`" if said else ""


def _plain(value: object) -> str:
    if isinstance(value, BaseModel):  # what it says itself; the rest are defaults of its own
        said = value.model_dump(exclude_unset=True)
        return "{" + ", ".join(f"{name}: {_plain(each)}" for name, each in said.items()) + "}" if said else ""
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli,
    "tools.md": tools,
    "api.md": api,
    "tables.md": tables,
    "settings.md": settings,
    "manifest.md": manifest,
    "coordinator.md": coordinator,
}


# --- REST -------------------------------------------------------------------------------------------------------------


def openapi() -> str:
    """What the pages' types are made from (`make types`)."""
    from toryo.operations.calls.catalogue import catalogue
    from toryo.server import rest, rest_answers
    from toryo.server.openapi import document

    described = document(catalogue().values(), rest_answers.API, rest.STREAM)
    described["info"]["version"] = "0"  # a release changes no types
    return json.dumps(described, indent=1, ensure_ascii=False)


FILES: Mapping[Path, Callable[[], str]] = {
    **{REFERENCE / name: page for name, page in PAGES.items()},
    **{
        ROOT / "docs" / "figures" / f"{name}.svg": lambda draw=draw: draw().svg()
        for name, draw in figures.FIGURES.items()
    },
}


def main(arguments: Sequence[str]) -> int:
    if "--openapi" in arguments:
        print(openapi())
        return 0
    stale = []
    for path, page in FILES.items():
        text = page().rstrip() + "\n"
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        print(f"stale: {' '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
