"""`toryo quota …`: what accounts may use in five hours, a day and a week, what they have used, and the reserve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote

import typer

from toryo.cli import clearing, edits, output
from toryo.cli.command_context import Here, argument, command, option
from toryo.cli.from_operations import Passing, sends
from toryo.domain.quota_windows import MOST_RESERVE

group = typer.Typer(
    help="List quota windows, and set limits and reserves.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Account = Annotated[str, argument("ACCOUNT", "The account, from toryo quota list.")]
_WINDOWS = {"5h": "5 hours", "day": "day", "week": "week"}


def add(app: typer.Typer) -> None:
    app.add_typer(group, name="quota")


def _tokens(words: str) -> Any:
    return Annotated[int | None, option("TOKENS", f"Tokens of {words}.", min=1)]


@Passing(group, "/quotas").prints("list", "GET")
def _print_all(answer: Mapping[str, Any]) -> None:
    """List what each account has used in its windows, and of how much."""
    _print(answer["quotas"])


@command(group, "show")
def show_quota(here: Here, account: Account) -> None:
    """Show the windows of one account."""
    answer = here.get(f"/quotas/{quote(account, safe='')}")
    here.answer(answer, lambda: _print([answer["quota"]]))


@command(group, "edit")
@sends(
    "edit_quota",
    limit_5h=_tokens("five hours"),
    limit_day=_tokens("a day"),
    limit_week=_tokens("a week"),
    reserve=Annotated[
        int | None,
        option(
            "PERCENT",
            "How much of each limit is kept for tasks of high and critical priority. 0: nothing.",
            min=0,
            max=MOST_RESERVE,
        ),
    ],
    low_priority=Annotated[
        Literal["any", "spare"] | None,
        option("any|spare", "When tasks of low priority start: at any time, or only with quota to spare."),
    ],
)
def edit_quota(here: Here, account: Account, body: dict[str, Any], clear: clearing.OfQuota = None) -> None:
    """Set the limits and the reserve of an account. A limit that is cleared is learnt again."""
    body = edits.changes("quota", body, clear)
    path = f"/quotas/{quote(account, safe='')}"
    before = _settings(here.get(path))
    answer = here.send("PATCH", path, body)
    here.answer(answer, lambda: output.done(edits.edit_line(account, before, _settings(answer))))


def _settings(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What people set, and what they can clear. What is used can change at any moment."""
    quota = answer["quota"]
    learnt = {each["length"]: each["limit"] for each in quota["windows"] if each["learnt"]}
    names = ("limit_5h", "limit_day", "limit_week", "reserve", "low_priority")
    return {name: quota[name] for name in names} | {"learnt": learnt}


def _print(quotas: list[dict[str, Any]]) -> None:
    rows = [
        (
            *((each["account"], ", ".join(each["providers"])) if number == 0 else ("", "")),
            *_window(window),
            f"{each['reserve']} %" if each["reserve"] else "–",
        )
        for each in quotas
        for number, window in enumerate(each["windows"])
    ]
    output.table(
        ("ACCOUNT", "PROVIDER", "WINDOW", "USED", "LIMIT", "ENDS", "RUNS DRY", "RESERVE"),
        rows,
        empty="No agent uses an account with a quota.",
        right=(3, 4),
    )
    for each in quotas:
        if each["usable_at"] is not None:
            output.say(f"The quota of {each['account']} is used up until {output.clock(each['usable_at'])}.")
        if any(window["reserve_kept"] for window in each["windows"]):
            output.say(f"What is left of {each['account']} is kept for tasks of high and critical priority.")
        spare = [window["spare_at"] for window in each["windows"] if window["spare_at"] is not None]
        if spare:
            output.say(f"Tasks of low priority start on {each['account']} again at {output.clock(max(spare))}.")
        elif each["low_priority"] == "spare":
            output.say(f"Tasks of low priority start on {each['account']} only with quota to spare; it has some now.")


def _window(window: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    limit = f"{window['limit']:,}" if window["limit"] is not None else "unknown"
    return (
        _WINDOWS[window["length"]],
        f"{window['used']:,}",
        f"{limit} (learnt)" if window["learnt"] else limit,
        output.clock(window["ends_at"]) if window["ends_at"] is not None else "–",
        output.clock(window["runs_dry_at"]) if window["runs_dry_at"] is not None else "–",
    )
