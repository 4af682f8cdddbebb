"""`toryo token …`: API keys of queue agents, which run already and register themselves; `toryo token person …`: what
people's own programs show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, flag, option
from toryo.cli.from_operations import Passing, Read

group = typer.Typer(help="Manage API keys and access tokens.", no_args_is_help=True, rich_markup_mode=None)

personal = typer.Typer(
    help="Access tokens of people: what your own programs show.", no_args_is_help=True, rich_markup_mode=None
)
Id = Annotated[str, argument("ID", "The token's id.")]
Whose = option("ID", "The person it belongs to (default: you); owners only.", "--person")
Project = Annotated[str, option("PRJ", "The project's id.")]


def add(app: typer.Typer) -> None:
    group.add_typer(personal, name="person")
    app.add_typer(group, name="token")


_keys = Passing(group, "/projects/{project_id}/keys")


@_keys.prints(
    "add",
    "POST",
    agent_id=Annotated[str, option("ID", "The agent that uses the key.")],
    project_id=Project,
    types=Annotated[list[str] | None, option("T", "A queue it may serve (default: any); repeatable.", "--type")],
    orchestrator=Annotated[bool, flag("Allow it to create queue tasks.", "--orchestrator")],
    tools=Annotated[list[str] | None, option("TOOL", "A tool it may call (default: all); repeatable.", "--tool")],
    name=option("TEXT", "What it is for."),
)
def _print_made(answer: Mapping[str, Any]) -> None:
    """Create an API key. It is printed only once."""
    output.done(f"created key {answer['key']['key_id']} of {answer['agent_id']}")
    output.fields({"token": answer["token"]})
    output.say("Save it: it is shown only once. Agents send it as Authorization: Bearer, or as api_key.")


@_keys.prints("list", "GET", project_id=Project)
def _print_keys(answer: Mapping[str, Any]) -> None:
    """List the API keys of a project, without their secrets."""
    rows = [_row(key) for key in answer["keys"]]
    empty = f"No API keys yet. Add one: toryo token add --agent ID --project {answer['project_id']}"
    output.table(("ID", "AGENT", "TYPES", "QUEUES", "CREATED", "REVOKED", "NAME"), rows, empty=empty)


def _row(key: dict[str, Any]) -> tuple[Any, ...]:
    files = "yes" if key["orchestrator"] else ""
    made, revoked = output.clock(key["created_at"]), output.clock(key["revoked_at"])
    return key["key_id"], key["agent_id"], ", ".join(key["types"]) or "any", files, made, revoked, key["name"]


@command(group, "revoke")
def revoke_token(here: Here, key: Annotated[str, argument("ID", "The id of the key or token.")]) -> None:
    """Revoke an API key, or a token of a deleted data directory (dir_…)."""
    if key.startswith("dir_"):
        answer = here.send("DELETE", f"/server-tokens/{key}")
        here.answer(answer, lambda: output.done(f"revoked {key}"))
        return
    answer = here.send("POST", f"/keys/{key}/revoke")
    here.answer(answer, lambda: output.done(f"revoked {key} of {answer['key']['agent_id'] or 'nobody yet'}"))


# --- of data directories ---------------------------------------------------------------------------------------------

_of_server = Passing(group, "/server-tokens")


@_of_server.prints("server", "GET")
def _print_of_server(answer: Mapping[str, Any]) -> None:
    """List the tokens in data directories, without their secrets."""
    rows = [
        (
            token["token_id"],
            token["file"],
            "this server" if token["this_server"] else token["directory_id"] or "unknown",
            output.clock(token["created_at"]),
        )
        for token in answer["server_tokens"]
    ]
    output.table(("ID", "FILE", "DATA DIRECTORY", "CREATED"), rows, empty="No tokens.")


@_of_server.prints(
    "rotate",
    "POST /{which}/rotate",
    which=Annotated[Literal["owner", "coordinator"], argument("owner|coordinator", "The token to replace.")],
)
def _print_rotated(answer: Mapping[str, Any]) -> None:
    """Replace the token in owner.token or coordinator.token. The old one, and what was created with it, is revoked."""
    output.done(f"created a new token in {answer['file']} of the server's data directory; the old one was revoked")
    output.fields({"tokens revoked": answer["tokens_revoked"], "browsers signed out": answer["signed_out"]})
    if answer["file"] == "coordinator.token":
        output.say(
            "Coordinators on other machines need the new token. Write it into the file of their --token-file, or "
            "start them again with it."
        )


# --- of people -------------------------------------------------------------------------------------------------------

_of_people = Passing(personal, "/access-tokens")


@_of_people.prints(
    "add",
    "POST",
    name=Annotated[str, argument("NAME", "What it is for.")],
    login=Annotated[
        Literal["owner", "member", "viewer"] | None,
        option("owner|member|viewer", "Its rights, at most yours (default: yours)."),
    ],
    days=Annotated[int | None, option("N", "Days until it expires (default: never).", min=1)],
    person_id=Whose,
)
def _print_personal(answer: Mapping[str, Any]) -> None:
    """Create an access token. It is printed only once."""
    made = answer["access_token"]
    output.done(f"created token {made['token_id']} of {made['person_id']}: {made['login']}")
    output.fields({"token": answer["token"], "expires": output.clock(made["expires_at"])})
    output.say("Save it: it is shown only once. Programs send it as Authorization: Bearer, or in TORYO_TOKEN.")


@_of_people.prints("list", "GET", person_id=Whose)
def _print_of_people(answer: Mapping[str, Any]) -> None:
    """List the valid access tokens, without their secrets."""
    rows = [
        (each["token_id"], each["login"], output.clock(each["expires_at"]), each["last_used_on"], each["name"])
        for each in answer["access_tokens"]
    ]
    columns = ("ID", "MAY DO", "EXPIRES", "LAST USED", "NAME")
    output.table(columns, rows, empty="No tokens yet. Add one: toryo token person add NAME")


_of_people.says(
    "revoke", "DELETE /{token_id}", "Revoke an access token.", "revoked {token_id}", token_id=Read(str, id=Id)
)
