"""The two tables of chat over every small world: what is waiting, who watches, what already runs, and around what.

`workflow.md` 7 asked of chat: whoever is started is not told to leave and has something to fetch or somebody who
watches; whoever leaves for want of work is not started again; and nothing about tasks or a pause is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tests.domain.things import NOW, at_work, stuck, tree_state
from tests.workflow.scenes import LIMITS, ordered, session, snapshot
from tests.workflow.test_models_agent import AGENTS, GROUNDS, MEMBERS, PROJECTS
from tests.workflow.worlds import SHARES, WHOLE, Seen, some
from toryo.domain.launches import Purpose
from toryo.domain.sessions import Session
from toryo.workflow import chat_rules, launch_rules, next_action
from toryo.workflow.launch_rules import Action, Decision
from toryo.workflow.reasons import REASONS
from toryo.workflow.snapshot import ChatState, Cooldown, Snapshot
from toryo.workflow.step import Step

# --- the worlds ------------------------------------------------------------------------------------------------------

CONVERSATIONS: dict[str, dict[str, bool]] = {
    "no conversation": {},
    "invited": {"invited": True, "in_conversation": True},
    "its turn": {"my_turn": True, "in_conversation": True},
    "the other's turn": {"in_conversation": True},
    "invited, and its turn in another": {"invited": True, "my_turn": True, "in_conversation": True},
}
PANELS: dict[str, dict[str, bool]] = {
    "no panel": {},
    "opened before": {"watched": True},
    "opened since": {"watched": True, "opened_since": True},
}
IDLE = {"busy": NOW + 1, "idle": NOW}
FACTS = ("undelivered", "delegation_waits", "ending_untold", "in_hand")


def talks() -> Iterator[tuple[str, ChatState]]:
    """Everything that may concern a chat at a moment; what contradicts itself is left out."""
    for on, panel, idle in product(CONVERSATIONS, PANELS, IDLE):
        for facts in product((False, True), repeat=len(FACTS)):
            true = dict(zip(FACTS, facts, strict=True))
            found = ChatState(**true, **CONVERSATIONS[on], **PANELS[panel], idle_at=IDLE[idle])
            yield ", ".join([on, panel, idle, *(name for name in FACTS if true[name])]), found


def talker(**fields: Any) -> Session:
    return session(purpose=Purpose.CHAT, task_id=None, **fields)


LIVE: dict[str, dict[Purpose, Session]] = {
    "nobody": {},
    "task": {Purpose.TASK: session()},
    "signed in": {Purpose.CHAT: talker(model_id=None)},
    "at it": {Purpose.CHAT: talker()},
    "both": {Purpose.CHAT: talker(), Purpose.TASK: session()},
    "runaway": {Purpose.CHAT: talker(runaway="refused_calls")},
    "silent": {Purpose.CHAT: talker(heard_at=NOW - LIMITS.silence)},
    "for very long": {Purpose.CHAT: talker(created_at=NOW - LIMITS.run_time)},
}
COOLDOWNS: dict[str, dict[Purpose, list[Cooldown]]] = {
    "warm": {},
    "cool": {Purpose.CHAT: [Cooldown(NOW + 1, "crashed")]},
    "cooled down": {Purpose.CHAT: [Cooldown(NOW, "crashed")]},
    "task is cool": {Purpose.TASK: [Cooldown(NOW + 1, "crashed")]},
}
LAUNCHES: dict[str, dict[Purpose, Any]] = {
    "none": {},
    "task ordered": {Purpose.TASK: ordered()},
    "chat ordered": {Purpose.CHAT: ordered(purpose=Purpose.CHAT)},
}


def around() -> Iterator[tuple[str, Snapshot]]:
    """Every surrounding: who, where, and what runs already."""
    for who, house, member, on, cool, order in product(AGENTS, PROJECTS, MEMBERS, LIVE, COOLDOWNS, LAUNCHES):
        if order != "none" and (Purpose.CHAT in LIVE[on]):
            continue
        is_member = MEMBERS[member][0] and AGENTS[who] is not None and PROJECTS[house] is not None
        yield (
            f"{who}, {house}, {member}, {on}, {cool}, {order}",
            snapshot(
                agent=AGENTS[who],
                project=PROJECTS[house],
                member=is_member,
                tree_states=(),
                sessions=LIVE[on],
                cooldowns=COOLDOWNS[cool],
                launches=LAUNCHES[order],
            ),
        )


_PLAIN = {"managed, active, member", "managed, long paused, member", "not managed, active, member"}
"""Surroundings in which chat can start or run: all talks are explored there, a few of them everywhere else."""
FEW = (
    ChatState(idle_at=NOW + 1),
    ChatState(undelivered=True, idle_at=NOW + 1),
    ChatState(True, True, True, True, True, True, True, True, True, NOW),
)


def worlds() -> Iterator[tuple[str, Snapshot]]:
    every = list(talks())
    for words, found in around():
        plain = any(words.startswith(each) for each in _PLAIN)
        for about, talk in every if plain else ((str(number), chat_state) for number, chat_state in enumerate(FEW)):
            signed_in = Purpose.CHAT in found.sessions
            if signed_in or not talk.in_hand:
                yield f"{words} / {about}", replace(found, talk=talk)


# --- exploring -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SHARES)
def explored(request: pytest.FixtureRequest) -> Seen:
    seen = Seen()
    for words, found in some(worlds(), request.param):
        seen.worlds += 1
        decision = launch_rules.decide_chat(found)
        seen.rows[f"launch: {decision.words}"] += 1
        by_hand = launch_rules.decide_chat(found, by_hand=True)
        for each in (decision, by_hand):
            if each.action is Action.START:
                _ask_whether_it_may_talk(seen, words, found)
        same = (decision.action, decision.reason) == (by_hand.action, by_hand.reason)
        excused = REASONS[decision.reason].by_hand
        seen.expect("a start by hand is refused for the same reasons but two", same or excused, words)
        seen.expect("who is wanted is held for a cause", decision.reason != "no_chat_work" or not _wanted(found), words)
        live = found.sessions.get(Purpose.CHAT)
        if live is None:
            seen.expect("a stop is said of a live chat only", decision.action is not Action.STOP, words)
        else:
            seen.expect("who is signed in is not started again", decision.action is not Action.START, words)
            _ask_what_the_session_is_told(seen, words, found, live, decision)
    return seen


def _wanted(found: Snapshot) -> bool:
    """The reasons of the specification's row, once more: not what the code makes of them."""
    talk = found.talk
    return any((talk.undelivered, talk.delegation_waits, talk.invited, talk.my_turn, talk.opened_since))


def _ask_whether_it_may_talk(seen: Seen, words: str, found: Snapshot) -> None:
    """A start, then sign-in: a session without anything in hand, whose idle time has just begun."""
    seen.expect("a start is said where no chat runs only", not _runs(found), words)
    seen.expect("a start has a cause", _wanted(found), words)
    talk = replace(found.talk, idle_at=NOW + 1)
    signed_in = replace(found, talk=talk, sessions={Purpose.CHAT: talker(model_id=None)}, launches={})
    first = next_action.decide(signed_in, talker(model_id=None))
    seen.expect("whoever is started reports its model first", first.action == "report_model", words, first.action)
    then = next_action.decide(signed_in, talker())
    seen.expect("whoever is started is not told to leave", then.action not in next_action.ENDS_SESSION, words)
    busy = then.action == "get_pending_messages" or talk.watched
    seen.expect("whoever is started has something to fetch or is watched", busy, words, then.action)
    goes_on = launch_rules.decide_chat(signed_in).reason == "already_running"
    seen.expect("whoever is started and signed in is left running", goes_on, words)


def _runs(found: Snapshot) -> bool:
    return Purpose.CHAT in found.sessions or Purpose.CHAT in found.launches


TOLD = {"agent_not_assigned": "agent_inactive"}
"""Reasons that a session is told in other words."""


def _ask_what_the_session_is_told(seen: Seen, words: str, found: Snapshot, live: Session, decision: Decision) -> None:
    known = replace(live, model_id="a-model")
    step = next_action.decide(found, known)
    for asking in (live, known, replace(live, ended_at=NOW)):
        row = next_action.decide(found, asking)
        seen.rows[f"{row.row}: {row.words}"] += 1
    _ask_about_an_interrupt(seen, words, found, known, step)
    talk = found.talk
    if decision.action is Action.STOP:
        if decision.reason != "silent":
            seen.expect("who is to be stopped is told to leave", step.action == "exit", words, step.action)
            causes = {TOLD.get(decision.reason, decision.reason), known.runaway and "runaway"}
            seen.expect("and for a cause that is true", step.reason in causes, words, step.reason)
        return
    leaves = step.action in next_action.ENDS_SESSION
    seen.expect("who talks is not told to leave", not (leaves and talk.in_conversation), words, step.action)
    seen.expect("who has something to fetch is not told to leave", not (leaves and talk.deliverable), words)
    seen.expect("who is watched stays until it is idle", not (leaves and talk.watched and talk.idle_at > NOW), words)
    if step.action == "wait_for_messages":
        somebody = talk.watched or talk.in_conversation or talk.in_hand
        seen.expect("whoever waits waits for somebody", somebody, words)
    if leaves:
        _ask_whether_it_stays_away(seen, words, found)
    elif step.action == "get_pending_messages":
        _ask_after_the_fetch(seen, words, found, known)


def _ask_about_an_interrupt(seen: Seen, words: str, found: Snapshot, known: Session, otherwise: Step) -> None:
    step = next_action.decide(replace(found, interrupt_waiting=True), known)
    seen.rows[f"{step.row}: {step.words}"] += 1
    for_guard = step == otherwise and known.runaway is not None
    seen.expect("an interrupt is fetched first", step.action == "get_notifications" or for_guard, words, step.action)


def _ask_whether_it_stays_away(seen: Seen, words: str, found: Snapshot) -> None:
    """It left in order: its panels were opened before, and what it had in hand is parked."""
    left = replace(found, sessions={}, launches={}, talk=replace(found.talk, opened_since=False, in_hand=False))
    again = launch_rules.decide_chat(left)
    seen.expect("whoever leaves for want of work is not started again", again.action is Action.HOLD, words)


def _ask_after_the_fetch(seen: Seen, words: str, found: Snapshot, known: Session) -> None:
    """Everything was handed out: what it was told to fetch is not there any more, only what it has to answer."""
    talk = found.talk
    fetched = replace(
        talk,
        undelivered=False,
        delegation_waits=False,
        invited=False,
        ending_untold=False,
        my_turn=talk.my_turn or talk.invited,
        in_hand=talk.in_hand or talk.delegation_waits,
        idle_at=NOW + 1,
    )
    step = next_action.decide(replace(found, talk=fetched), known)
    fetches = step.action == "get_pending_messages"
    seen.expect("fetching again is said of a turn only", fetches == fetched.my_turn, words, step.action)
    answered = next_action.decide(replace(found, talk=replace(fetched, my_turn=False)), known)
    seen.expect("whoever has fetched and answered is done", answered.action != "get_pending_messages", words)


@pytest.fixture(scope="module", params=SHARES)
def elsewhere(request: pytest.FixtureRequest) -> Seen:
    """Whatever is the matter with its tasks, a pause or the budget: chat says the same."""
    seen = Seen()
    waits = {
        **GROUNDS,
        "two at work": tree_state(at_work("main", "boss"), at_work("second", "boss"), stuck("third", "boss")),
    }
    for words, found in some(around(), request.param):
        for number, talk in enumerate(FEW):
            here = replace(found, talk=talk)
            decision, live = launch_rules.decide_chat(here), found.sessions.get(Purpose.CHAT)
            told = next_action.decide(here, live) if live is not None else None
            others = [
                replace(here, tree_states=(wait,), blocked_tasks=3, others_on={"main": "ann"})
                for wait in waits.values()
            ]
            others += [replace(here, budget_used_up=True)]
            others += [replace(here, sessions={p: s for p, s in found.sessions.items() if p is Purpose.CHAT})]
            others += [replace(here, cooldowns={**found.cooldowns, Purpose.TASK: [Cooldown(NOW + 9, "quota")]})]
            if found.project is not None and found.project.active:
                others += [replace(here, project=PROJECTS[each]) for each in ("just paused", "long paused")]
            for other in others:
                seen.worlds += 1
                same = launch_rules.decide_chat(other)
                alike = (same.action, same.reason, same.row) == (decision.action, decision.reason, decision.row)
                seen.expect("the decision about chat looks at nothing else", alike, words, number)
                if live is not None:
                    alike = next_action.decide(other, live) == told
                    seen.expect("what a chat session is told looks at nothing else", alike, words, number)
    return seen


# --- the promises ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "promise",
    [
        "a start is said where no chat runs only",
        "a start has a cause",
        "a start by hand is refused for the same reasons but two",
        "who is wanted is held for a cause",
        "a stop is said of a live chat only",
        "who is signed in is not started again",
        "whoever is started reports its model first",
        "whoever is started is not told to leave",
        "whoever is started has something to fetch or is watched",
        "whoever is started and signed in is left running",
        "who is to be stopped is told to leave",
        "and for a cause that is true",
        "who talks is not told to leave",
        "who has something to fetch is not told to leave",
        "who is watched stays until it is idle",
        "an interrupt is fetched first",
        "whoever waits waits for somebody",
        "whoever leaves for want of work is not started again",
        "fetching again is said of a turn only",
        "whoever has fetched and answered is done",
    ],
)
def test_in_every_small_world_of_chat(explored: Seen, promise: str) -> None:
    assert explored.broken(promise) == []


@pytest.mark.parametrize(
    "promise",
    ["the decision about chat looks at nothing else", "what a chat session is told looks at nothing else"],
)
def test_chat_goes_on_whatever_becomes_of_the_work(elsewhere: Seen, promise: str) -> None:
    assert elsewhere.broken(promise) == []


def test_every_row_of_both_tables_of_chat_is_the_first_match_of_some_world(explored: Seen) -> None:
    rows = [f"launch: {rule.words}" for rule in launch_rules.CHAT_ROWS]
    rows += [f"chat {rule.row}: {rule.words}" for rule in chat_rules.CHAT_ROWS]
    rows += [f"{rule.row}: {rule.words}" for rule in next_action.FIRST_ROWS if rule.row < "first 6"]
    assert [each for each in rows if not explored.rows[each]] == []


def test_a_chat_session_is_never_told_what_is_about_tasks(explored: Seen) -> None:
    told = [row for row in explored.rows if not row.startswith("launch")]
    assert not [each for each in told if each.startswith(("first 6", "first 7", "worker", "manager"))]


@WHOLE
@pytest.mark.parametrize("elsewhere", SHARES[1:], indirect=True)
def test_the_exploration_is_as_wide_as_it_says(explored: Seen, elsewhere: Seen) -> None:
    assert explored.worlds > 30_000
    assert elsewhere.worlds > 30_000
