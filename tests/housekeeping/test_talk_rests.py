"""Talk as it goes in any order: whoever is started has something to do, and when everybody is silent it comes to rest.

People open and close panels and write, three agents fetch, speak, end, delegate, are lost, leave in order or say
nothing; time passes in between. Nobody is obedient. The acts are drawn from a seed: a failure is told again by it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.invariants import hold
from tests.operations.talkers import stop
from tests.stories import Answer, Process, World, seeds
from toryo.domain.conversations import ONE_WAY
from toryo.storage.transaction import Transaction

AGENTS = ("a", "b", "c")
ACTS = 90


class Market:
    """Three agents who talk as they like, and one who delegates; every start is looked at."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.dice = random.Random(seed)
        self.chats: dict[str, Process] = {}
        self.done: list[str] = []
        world.project(decomposition="never", delegations_ever=50)
        for each in AGENTS:
            world.worker(each)
        world.task("a", title="Buy apples")
        self.worker = world.start("a")

    def step(self) -> None:
        acts: list[Callable[[], object]] = [
            self._start,
            self._start,
            self._fetch,
            self._fetch,
            self._speak,
            self._speak,
            self._begin,
            self._ask,
            self._end,
            self._report,
            self._lose,
            self._leave,
            self._write,
            self._panel,
            self._delegate,
            self._pass_time,
        ]
        act = self.dice.choice(acts)
        self.done.append(act.__name__)
        act()

    # --- who is started ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """One claim; whoever it starts signs in, and is not told to leave."""
        desk = self.world.coordinator()
        desk.running = [each.launch_id for each in self.chats.values()]
        for launch in desk.claim(free_slots=0, free_chat_slots=5)["start"]:
            process = self.world.process(launch)
            process.sign_in()
            process.call("report_model", provider="claude", model_id="model-1")
            self.chats[process.agent_id] = process
            first = process.next()
            assert first["action"] in ("get_pending_messages", "wait_for_messages"), (first, self.done)
            watched = process.agent_id in self._watched()
            assert first["action"] == "get_pending_messages" or watched, (first, self.done)

    def _watched(self) -> set[str]:
        after = self.world.now - self.world.dispatcher.context.talk.viewer_lease

        def look(tx: Transaction) -> set[str]:
            return {each for each in AGENTS if tx.chat.viewers(self.world.project_id, each, after)}

        return self.world.database.read(lambda connection: look(Transaction(connection)))

    # --- what the agents do ------------------------------------------------------------------------------------------

    def _somebody(self) -> Process | None:
        here = [self.chats[each] for each in sorted(self.chats)]
        return self.dice.choice(here) if here else None

    def _try(self, process: Process | None, name: str, **arguments: object) -> Answer:
        """Whatever comes; who is over is gone."""
        if process is None:
            return {}
        answer = process.ask(name, **arguments).result or {}
        if answer.get("action") in ("exit", "logout"):
            self.chats.pop(process.agent_id, None)
        return answer

    def _fetch(self) -> None:
        self._try(self._somebody(), self.dice.choice(["get_pending_messages", "get_next_action"]))

    def _conversation(self, process: Process | None) -> str:
        found = self._try(process, "get_pending_messages").get("conversations", [])
        return str(self.dice.choice(found)["conversation_id"]) if found else "cnv_none"

    def _speak(self) -> None:
        who = self._somebody()
        self._try(who, "send_conversation_message", conversation_id=self._conversation(who), content="Three.")

    def _begin(self) -> None:
        target, turns = self.dice.choice(AGENTS), self.dice.choice([2, 3, 20])
        self._try(
            self._somebody(), "start_conversation", target_agent_id=target, initial_message="How many?", max_turns=turns
        )

    def _ask(self) -> None:
        self._try(self._somebody(), "send_message", target_agent_id="owner", content="May I?")

    def _end(self) -> None:
        who = self._somebody()
        self._try(who, "end_conversation", conversation_id=self._conversation(who), final_message="Bye.")

    def _report(self) -> None:
        who = self._somebody()
        found = self._try(who, "get_pending_messages").get("pending_delegations", [])
        for each in found:
            self._try(who, "report_delegation_completed", delegation_id=each["delegation_id"], result="Five.")

    def _lose(self) -> None:
        who = self._somebody()
        if who is not None:
            del self.chats[who.agent_id]
            if self.dice.random() < 0.7:  # else nobody hears of it until its lease is over
                stop(self.world, who)

    def _leave(self) -> None:
        who = self._somebody()
        if who is not None:
            del self.chats[who.agent_id]
            who.ask("logout")

    # --- what people and the task do, and time -----------------------------------------------------------------------

    def _write(self) -> None:
        self.world.say(self.dice.choice(AGENTS), "Do you have apples?")

    def _panel(self) -> None:
        name = self.dice.choice(["open_chat", "close_chat"])
        self.world.owner.call(name, project_id=self.world.project_id, agent_id=self.dice.choice(AGENTS))

    def _delegate(self) -> None:
        """The task session delegates; where it was lost, the next one does."""
        desk = self.world.coordinator()
        desk.running = [each.launch_id for each in self.chats.values()]
        for launch in desk.claim(agent_ids=["a"], free_slots=1, free_chat_slots=0)["start"]:
            self.worker = self.world.process(launch)
            self.worker.sign_in()
            self.worker.call("report_model", provider="claude", model_id="model-1")
            self.worker.call("get_my_task")
        target = self.dice.choice(["b", "c", "owner"])
        self.worker.ask("delegate_to_chat_session", target_agent_id=target, purpose="Ask.", await_result=False)

    def _pass_time(self) -> None:
        self.world.advance(self.dice.choice([5, 50, 70, 200, 400, 700]))
        self.world.housekeep()
        live = {session["launch_id"] for session in self.world.sessions()}
        self.chats = {name: process for name, process in self.chats.items() if process.launch_id in live}


@pytest.mark.parametrize("seed", seeds(0, usual=3))
def test_whoever_is_started_has_something_to_do_and_when_all_are_silent_talk_comes_to_rest(world: World, seed: int):
    market = Market(world, seed)
    for _ in range(ACTS):
        market.step()
    hold(world)
    for _ in range(4):  # leases, silence, the end of an ending, delegations
        world.advance(86_400)
        world.housekeep()
    assert world.sessions() == []
    assert open_talk(world) == []
    for agent_id in AGENTS:
        wanted = world.why_chat(agent_id) == "start has_pending_purpose"
        assert wanted is undelivered(world, agent_id), agent_id
    before = world.rows()
    world.housekeep()
    assert world.rows() == before


def open_talk(world: World) -> list[str]:
    """Conversations, delegations and panels that are not over."""

    def look(tx: Transaction) -> list[str]:
        found = [conversation.id for conversation in tx.chat.all_unsettled()]
        found += [delegation.id for delegation in tx.chat.all_open_delegations()]
        return found + [viewer.id for name in AGENTS for viewer in tx.chat.viewers(world.project_id, name, 0)]

    return world.database.read(lambda connection: look(Transaction(connection)))


def undelivered(world: World, agent_id: str) -> bool:
    """Whether a person's message, or a one-way word, waits for the agent: conversations are over, that is all."""

    def look(tx: Transaction) -> bool:
        box = tx.chat.mailbox(world.project_id, agent_id)
        waiting = tx.chat.undelivered(box, 1000)
        over = [
            tx.chat.conversation(message.conversation_id) for message in waiting if message.conversation_id is not None
        ]
        return len(over) < len(waiting) or any(each is not None and each.reason == ONE_WAY for each in over)

    return world.database.read(lambda connection: look(Transaction(connection)))
