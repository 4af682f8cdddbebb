"""`toryo person …`: people, their roles, and how they sign in."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from toryo.cli import clearing, edits, output, terminal_questions, wider_rights
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.exit_codes import Misuse
from toryo.cli.from_operations import Passing, sends
from toryo.cli.open_dashboard import link

group = typer.Typer(help="Manage the people who can sign in.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, argument("ID", "The person's id.")]
Name = option("NAME", "Their display name (default: the id).")
Email = option("ADDRESS", "The address by which an identity provider first recognizes them.")
ROLES = "owner|member|viewer"
WORDS = {"owner": "everything", "member": "in their projects", "viewer": "reads"}


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="person")


_all = Passing(group, "/people")


@_all.prints(
    "add",
    "POST",
    person_id=Annotated[str, argument("ID", "Their id: 1 to 64 characters of a-z 0-9 . _ -")],
    login=Annotated[
        Literal["owner", "member", "viewer"],
        option(ROLES, "Owners may do everything, members work in their own projects, viewers only read."),
    ],
    name=Name,
    email=Email,
    projects=Annotated[list[str] | None, option("PRJ", "A project they belong to; repeatable.")],
)
def _print_added(answer: Mapping[str, Any]) -> None:
    """Add a person. They sign in with a link, a password that you give them, or an identity provider."""
    who = answer["person_id"]
    output.done(f"created person {who}, {answer['login']}")
    output.say(f"Create a sign-in link: toryo person link {who}. Or set a password: toryo person password {who}")


@_all.prints("list", "GET")
def _print_all(answer: Mapping[str, Any]) -> None:
    """List the people on this server. Owners also see how each signs in."""
    rows = [(person["person_id"], person["name"], person["login"], _ways(person)) for person in answer["people"]]
    output.table(("ID", "NAME", "ROLE", "SIGNS IN WITH"), rows, empty="Nobody.")


def _ways(person: dict[str, Any]) -> str:
    """`link` is always one, and not worth saying."""
    ways = ["password"] if person.get("password") else []
    if person.get("provider") or person.get("email"):
        ways.append(f"provider, as {person['email']}" if person.get("email") else "provider")
    counted = [(name, person.get(name) or 0) for name in ("browsers", "tokens")]
    ways += [f"{count} {name if count > 1 else name[:-1]}" for name, count in counted if count]
    return ", ".join(ways)


@command(group, "edit")
@sends(
    "change_person",
    login=Annotated[Literal["owner", "member", "viewer"] | None, option(ROLES, "Their new role.")],
    name=Name,
    email=Email,
)
def edit_person(
    here: Here, person: Id, body: dict[str, Any], clear: clearing.OfPerson = None, yes: wider_rights.Yes = False
) -> None:
    """Change the name or role of a person. Takes effect immediately, in open browsers too."""
    body = edits.changes("person", body, clear)
    if "login" in body and not yes:
        known = {each["person_id"]: each["login"] for each in here.get("/people")["people"]}
        wider_rights.confirm(here, wider_rights.of_role(known.get(person), body["login"]))
    before: dict[str, Any] = next((each for each in here.get("/people")["people"] if each["person_id"] == person), {})
    answer = here.send("PATCH", f"/people/{person}", body)
    here.answer(answer, lambda: output.done(edits.edit_line(person, before, answer["person"])))


@command(group, "password")
def set_password(here: Here, person: Id) -> None:
    """Set the password of a person. Asks for it twice, or reads the first line of stdin. Signs their browsers out."""
    answer = here.send("PUT", f"/people/{person}/password", {"password": _password()})
    ended = answer["signed_out"]
    told = f"{person} has a new password" + (f"; {ended} of their browsers were signed out" if ended else "")
    here.answer(answer, lambda: output.done(told))


def _password() -> str:
    """Never an argument: those stand in the shell's history and in the list of processes."""
    if sys.stdin.isatty():
        return _asked_for_twice()
    given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise Misuse(
            "No password was given: stdin is empty.", "Type it in a terminal, or pass it as the first line of stdin."
        )
    return given


def _asked_for_twice() -> str:
    given = terminal_questions.secret("New password: ")
    if terminal_questions.secret("Repeat the password: ") != given:
        raise Misuse("The two passwords are different.", "Nothing was changed. Try again.")
    return given


@command(group, "link")
def make_link(here: Here, person: Id) -> None:
    """Print a sign-in link for a person. It works once, for ten minutes."""
    made = link(here, person=person)
    here.answer(made, lambda: output.done(made["url"]))


_REMOVE = "Remove a person. They can no longer sign in; their history stays."
Passing(group, "/people/{person_id}", person_id=Id).says("remove", "DELETE", _REMOVE, "removed {person_id}")
