"""`toryo token …`: API keys of queue agents, which run already and register themselves; `toryo token person …`: what
people's own programs show."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from toryo.cli import output
from toryo.cli.command_context import Here, argument, command, flag, option

group = typer.Typer(help="Manage API keys and access tokens.", no_args_is_help=True, rich_markup_mode=None)

personal = typer.Typer(
    help="Access tokens of people: what your own programs show.", no_args_is_help=True, rich_markup_mode=None
)
Whose = Annotated[str | None, option("ID", "The person it belongs to (default: you); owners only.")]

Project = Annotated[str, option("PRJ", "The project's id.")]


def add(app: typer.Typer) -> None:
    group.add_typer(personal, name="person")
    app.add_typer(group, name="token")


@command(group, "add")
def add_token(
    here: Here,
    agent: Annotated[str, option("ID", "The agent that uses the key.")],
    project: Project,
    type: Annotated[list[str] | None, option("T", "A queue it may serve (default: any); repeatable.")] = None,
    orchestrator: Annotated[bool, flag("Allow it to create queue tasks.", "--orchestrator")] = False,
    tool: Annotated[list[str] | None, option("TOOL", "A tool it may call (default: all); repeatable.")] = None,
    name: Annotated[str | None, option("TEXT", "What it is for.")] = None,
) -> None:
    """Create an API key. It is printed only once."""
    body = {
        "agent_id": agent,
        "types": type or None,
        "orchestrator": orchestrator or None,
        "tools": tool or None,
        "name": name,
    }
    answer = here.send("POST", f"/projects/{project}/keys", body)
    here.answer(answer, lambda: _print_made(answer))


@command(group, "list")
def list_tokens(here: Here, project: Project) -> None:
    """List the API keys of a project, without their secrets."""
    answer = here.get(f"/projects/{project}/keys")
    rows = [_row(key) for key in answer["keys"]]
    columns = ("ID", "AGENT", "TYPES", "QUEUES", "CREATED", "REVOKED", "NAME")
    empty = f"No API keys yet. Add one: toryo token add --agent ID --project {project}"
    here.answer(answer, lambda: output.table(columns, rows, empty=empty))


@command(group, "revoke")
def revoke_token(here: Here, key: Annotated[str, argument("ID", "The id of the key or token.")]) -> None:
    """Revoke an API key, or a token of a deleted data directory (dir_…)."""
    if key.startswith("dir_"):
        answer = here.send("DELETE", f"/server-tokens/{key}")
        here.answer(answer, lambda: output.done(f"revoked {key}"))
        return
    answer = here.send("POST", f"/keys/{key}/revoke")
    here.answer(answer, lambda: output.done(f"revoked {key} of {answer['key']['agent_id'] or 'nobody yet'}"))


def _row(key: dict[str, Any]) -> tuple[Any, ...]:
    files = "yes" if key["orchestrator"] else ""
    made, revoked = output.clock(key["created_at"]), output.clock(key["revoked_at"])
    return key["key_id"], key["agent_id"], ", ".join(key["types"]) or "any", files, made, revoked, key["name"]


def _print_made(answer: dict[str, Any]) -> None:
    output.done(f"created key {answer['key']['key_id']} of {answer['agent_id']}")
    output.fields({"token": answer["token"]})
    output.say("Save it: it is shown only once. Agents send it as Authorization: Bearer, or as api_key.")


# --- of data directories ---------------------------------------------------------------------------------------------


@command(group, "server")
def list_of_server(here: Here) -> None:
    """List the tokens in data directories, without their secrets."""
    answer = here.get("/server-tokens")
    rows = [
        (
            token["token_id"],
            token["file"],
            "this server" if token["this_server"] else token["directory_id"] or "unknown",
            output.clock(token["created_at"]),
        )
        for token in answer["server_tokens"]
    ]
    here.answer(answer, lambda: output.table(("ID", "FILE", "DATA DIRECTORY", "CREATED"), rows, empty="No tokens."))


@command(group, "rotate")
def rotate(
    here: Here,
    which: Annotated[Literal["owner", "coordinator"], argument("owner|coordinator", "The token to replace.")],
) -> None:
    """Replace the token in owner.token or coordinator.token. The old one, and what was created with it, is revoked."""
    answer = here.send("POST", f"/server-tokens/{which}/rotate")
    here.answer(answer, lambda: _print_rotated(answer))


def _print_rotated(answer: dict[str, Any]) -> None:
    output.done(f"created a new token in {answer['file']} of the server's data directory; the old one was revoked")
    output.fields({"tokens revoked": answer["tokens_revoked"], "browsers signed out": answer["signed_out"]})
    if answer["file"] == "coordinator.token":
        output.say(
            "Coordinators on other machines need the new token. Write it into the file of their --token-file, or "
            "start them again with it."
        )


# --- of people -------------------------------------------------------------------------------------------------------


@command(personal, "add")
def add_personal(
    here: Here,
    name: Annotated[str, argument("NAME", "What it is for.")],
    role: Annotated[
        Literal["owner", "member", "viewer"] | None,
        option("owner|member|viewer", "Its rights, at most yours (default: yours)."),
    ] = None,
    days: Annotated[int | None, option("N", "Days until it expires (default: never).", min=1)] = None,
    person: Whose = None,
) -> None:
    """Create an access token. It is printed only once."""
    answer = here.send("POST", "/access-tokens", {"name": name, "login": role, "days": days, "person_id": person})
    here.answer(answer, lambda: _print_personal(answer))


@command(personal, "list")
def list_personal(here: Here, person: Whose = None) -> None:
    """List the valid access tokens, without their secrets."""
    answer = here.get("/access-tokens", person_id=person)
    rows = [
        (
            access_token["token_id"],
            access_token["login"],
            output.clock(access_token["expires_at"]),
            access_token["last_used_on"],
            access_token["name"],
        )
        for access_token in answer["access_tokens"]
    ]
    columns = ("ID", "MAY DO", "EXPIRES", "LAST USED", "NAME")
    here.answer(
        answer, lambda: output.table(columns, rows, empty="No tokens yet. Add one: toryo token person add NAME")
    )


@command(personal, "revoke")
def revoke_personal(here: Here, id: Annotated[str, argument("ID", "The token's id.")]) -> None:
    """Revoke an access token."""
    answer = here.send("DELETE", f"/access-tokens/{id}")
    here.answer(answer, lambda: output.done(f"revoked {id}"))


def _print_personal(answer: dict[str, Any]) -> None:
    made = answer["access_token"]
    output.done(f"created token {made['token_id']} of {made['person_id']}: {made['login']}")
    output.fields({"token": answer["token"], "expires": output.clock(made["expires_at"])})
    output.say("Save it: it is shown only once. Programs send it as Authorization: Bearer, or in TORYO_TOKEN.")
