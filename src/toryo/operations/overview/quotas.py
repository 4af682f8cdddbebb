"""Quota windows of accounts: what was used, what may be used, and the reserve.

`launches/usage_counting.py` counts, `launches/cooldowns.py` learns limits, `workflow/launch_rules.py` keeps the
reserve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from toryo.domain.errors import Code, Refusal
from toryo.domain.fast_dataclasses import dataclass, replace
from toryo.domain.quota_windows import MOST_RESERVE, MOST_TOKENS, Length, Window
from toryo.domain.times import iso_or_none
from toryo.domain.wording import say
from toryo.nearest import nearest
from toryo.operations.calls import visibility
from toryo.operations.calls.call import WORK, Call
from toryo.operations.calls.catalogue import NoParameters, Parameters, Route, operation
from toryo.operations.calls.grants import Grant
from toryo.operations.calls.results import Result

Account = Annotated[str, Field(min_length=1, max_length=200)]
LowPriority = Literal["any", "spare"]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
_FIELDS = {Length.FIVE_HOURS: "limit_5h", Length.DAY: "limit_day", Length.WEEK: "limit_week"}


class QuotaWindow(TypedDict):
    """Tokens of one window. `limit`: null if nothing is known; `learnt`: from the provider's last refusal. A window
    that has not begun has no `ends_at`. `runs_dry_at`: when the limit is reached at the pace so far; null: not before
    it ends. `spare_at`: when tasks of low priority start again, where they start only with quota to spare; null: they
    do now."""

    length: Literal["5h", "day", "week"]
    used: int
    limit: int | None
    learnt: bool
    ends_at: str | None
    runs_dry_at: str | None
    reserve_kept: bool
    spare_at: str | None


class Quota(TypedDict):
    """`providers`: those that its agents use it with. `limit_…`: tokens, as people have set them. `reserve`: percent of
    each limit that is kept for tasks of high and critical priority. `low_priority`: whether tasks of low priority start
    at `any` time, or only with quota to `spare`: while the windows are used no faster than they pass. `usable_at`: the
    provider refuses until then; null: it does not."""

    account: str
    providers: list[str]
    agents: list[str]
    limit_5h: int | None
    limit_day: int | None
    limit_week: int | None
    reserve: int
    low_priority: LowPriority
    usable_at: str | None
    windows: list[QuotaWindow]


class Quotas(Result):
    quotas: list[Quota]


class OneQuota(Result):
    quota: Quota


class OfAccount(Parameters):
    account: Account = Field(description="The account: a provider's name, or what agents set as the option account.")


class EditQuota(OfAccount):
    limit_5h: Tokens | None = Field(None, description="Tokens of five hours; null: learn the limit again.")
    limit_day: Tokens | None = Field(None, description="Tokens of a day; null: learn the limit again.")
    limit_week: Tokens | None = Field(None, description="Tokens of a week; null: learn the limit again.")
    reserve: Annotated[int, Field(ge=0, le=MOST_RESERVE)] | None = Field(
        None, description="Percent of each limit that is kept for tasks of high and critical priority."
    )
    low_priority: LowPriority | None = Field(
        None, description="When tasks of low priority start: at any time, or only with quota to spare."
    )


@operation("show_quotas", grant=Grant.PERSON, route=Route("GET", "/quotas"), tool=False, reads=True)
def show_quotas(call: Call, _: NoParameters) -> Quotas:
    """The quota windows of every account that your agents use: tokens used, limits, and when each window ends."""
    return {"success": True, "quotas": _as_answer(call, _accounts(call))}


@operation(
    "show_quota",
    grant=Grant.PERSON,
    parameters=OfAccount,
    route=Route("GET", "/quotas/{account}"),
    tool=False,
    reads=True,
)
def show_quota(call: Call, wanted: OfAccount) -> OneQuota:
    """The quota windows of one account."""
    return _one(call, _known(call, wanted.account))


@operation("edit_quota", grant=Grant.OWNER, parameters=EditQuota, route=Route("PATCH", "/quotas/{account}"), tool=False)
def edit_quota(call: Call, wanted: EditQuota) -> OneQuota:
    """Set the limits and the reserve of an account. What you omit stays; a limit of null is forgotten, also one that
    was learnt."""
    call.tx.lock_everything()
    account = _known(call, wanted.account)
    given = {name: getattr(wanted, name) for name in wanted.model_fields_set - {"account"}}
    given = {name: value for name, value in given.items() if value is not None or name in _FIELDS.values()}
    [windows] = _windows(call, [account]).values()
    changed = [_edited(each, given) for each in windows]
    if changed != windows:
        call.tx.quota_windows.edit(changed)
        call.event("account.quota_edited", data={"account": account, **given})
        call.tx.hint(WORK)
    return _one(call, account)


def _edited(window: Window, given: Mapping[str, Any]) -> Window:
    window = replace(
        window,
        reserve=given.get("reserve", window.reserve),
        low_spare=given["low_priority"] == "spare" if "low_priority" in given else window.low_spare,
    )
    field = _FIELDS[window.length]
    if field not in given:
        return window
    if given[field] is None:
        return replace(window, set_limit=None, learnt_limit=None, learnt_at=None)
    return replace(window, set_limit=given[field])


@dataclass(slots=True)
class _Users:
    """The agents of an account, and the providers with which they use it, in order and without repetition."""

    agents: dict[str, None] = field(default_factory=dict)
    providers: dict[str, None] = field(default_factory=dict)


def _accounts(call: Call) -> dict[str, _Users]:
    """Who uses each account, of the agents that the caller sees."""
    found: dict[str, _Users] = {}
    for agent in call.tx.agents.all():
        if agent.active and visibility.sees_agent(call, agent):
            for program in agent.programs:
                if program.account is not None:
                    users = found.setdefault(program.account, _Users())
                    users.agents[agent.id] = users.providers[program.provider] = None
    return dict(sorted(found.items()))


def _known(call: Call, account: str) -> str:
    known = list(_accounts(call))
    if account in known:
        return account
    near = nearest(account, known)
    names = ", ".join(known) or say("none")
    raise Refusal(
        Code.VALIDATION_ERROR,
        say("No agent uses the account {account!r}.", account=account),
        say("Did you mean {nearest}? Accounts in use: {names}.", nearest=near, names=names)
        if near
        else say("Accounts in use: {names}.", names=names),
    )


def _one(call: Call, account: str) -> OneQuota:
    [found] = _as_answer(call, {account: _accounts(call)[account]})
    return {"success": True, "quota": found}


def _windows(call: Call, accounts: Iterable[str]) -> dict[str, list[Window]]:
    """All of each account, the shortest first; those that nothing is known of as they begin."""
    known = {(each.account, each.length): each for each in call.tx.quota_windows.of(accounts)}
    same = {each.account: (each.reserve, each.low_spare) for each in known.values()}

    def of(account: str, length: Length) -> Window:
        reserve, low_spare = same.get(account, (0, False))
        return known.get((account, length)) or Window(account, length, reserve=reserve, low_spare=low_spare)

    return {account: [of(account, length) for length in Length] for account in accounts}


def _as_answer(call: Call, accounts: Mapping[str, _Users]) -> list[Quota]:
    windows, used_up = _windows(call, accounts), call.tx.agents.accounts(accounts)
    return [
        _quota(call, account, users, windows[account], used_up.get(account, (0, ""))[0])
        for account, users in accounts.items()
    ]


def _quota(call: Call, account: str, users: _Users, windows: list[Window], used_up_until: int) -> Quota:
    set_limits = {each.length: each.set_limit for each in windows}
    return {
        "account": account,
        "providers": sorted(users.providers),
        "agents": list(users.agents),
        "limit_5h": set_limits[Length.FIVE_HOURS],
        "limit_day": set_limits[Length.DAY],
        "limit_week": set_limits[Length.WEEK],
        "reserve": windows[0].reserve,
        "low_priority": "spare" if windows[0].low_spare else "any",
        "usable_at": iso_or_none(used_up_until if used_up_until > call.now else None),
        "windows": [
            {
                "length": each.length.value,
                "used": each.used_now(call.now),
                "limit": each.limit(call.now),
                "learnt": each.set_limit is None and each.learnt(call.now) is not None,
                "ends_at": iso_or_none(each.ends_at(call.now)),
                "runs_dry_at": iso_or_none(each.runs_dry_at(call.now)),
                "reserve_kept": each.kept_until(call.now) is not None,
                "spare_at": iso_or_none(each.spare_from(call.now)),
            }
            for each in windows
        ],
    }
