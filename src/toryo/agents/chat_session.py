"""The chat session of an agent without a model: fetches messages, delegations and turns, and handles each.

It answers people, passes a delegation to a person or opens a conversation with an agent, takes its turns, and reports
the end of a conversation to the one that waits. `script_rules.py` decides the words. Durable state is read from the
server's answers; what is kept here only avoids repetition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toryo.agents import script_rules
from toryo.agents.agent_loop import Answer, Handler, Session, common, say
from toryo.agents.script_rules import Facts, Move, Rule, Standing

CAME_TO_NOTHING = frozenset({"nobody_came", "idle"})
"""Ends of a conversation after which its delegation has failed. It also fails if the partner said nothing."""
LONGEST = 4_000
"""Characters of a message."""
LONGEST_WAIT = 65.0
"""Seconds to wait for room where a limit per minute is used up."""


class Asked(NamedTuple):
    """The text for a person who waits for the end of a conversation."""

    person_id: str
    report: str | None
    facts: Facts


class Talk:
    def __init__(self, session: Session, script: Rule) -> None:
        self._session = session
        self.script = script
        self._conversations: dict[str, Answer] = {}
        """All that was said of each."""
        self._heard: dict[str, str] = {}
        """What the partner said last, by conversation."""
        self._asked: dict[str, Asked] = {}
        self._postponed: dict[str, list[Answer]] = {}
        """Delegations that wait until the open conversation with their target is over."""
        self._awaited: dict[str, Answer] = {}
        """Delegations that wait for a person's answer, by person."""
        self._reported: set[str] = set()
        self._results: set[str] = set()
        """Messages that were the answer to a delegation."""

    def handlers(self) -> dict[str, Handler]:
        return {**common(self._session), "get_pending_messages": self.look}

    def look(self, _: Answer) -> Answer:
        given = self._session.try_to("get_pending_messages")
        if not given.get("success"):
            return given
        with self._session.undisturbed():
            self.deal_with(given)
        return {}

    def deal_with(self, given: Answer) -> None:
        """Everything that was handed out. Delegations come first: a person's message may be the answer to one."""
        self._note(given)
        for delegation in given.get("pending_delegations") or ():
            self._session.progressed()
            self.take_on(delegation, given)
        for message in given.get("pending_messages") or ():
            self.hear(message)
        for conversation in given.get("conversations") or ():
            if conversation.get("your_turn"):
                self.take_turn(conversation)
        for ended in given.get("ended_conversations") or ():
            self._session.progressed()
            self.close(ended)

    def _note(self, given: Answer) -> None:
        for message in (*(given.get("context_messages") or ()), *(given.get("pending_messages") or ())):
            if message.get("conversation_id") and message.get("from_agent_id") != self._session.agent_id:
                self._heard[message["conversation_id"]] = str(message.get("content") or "")
        for name in ("ended_conversations", "invitations", "conversations"):
            for each in given.get(name) or ():
                known = self._conversations.setdefault(each["conversation_id"], {})
                known.update({key: value for key, value in each.items() if value is not None})

    # --- messages -----------------------------------------------------------------------------------------------------

    def hear(self, message: Answer) -> None:
        self._session.progressed()
        say(f"{message.get('from_name') or message.get('from_agent_id')}: {message.get('content')}")
        if message.get("conversation_id"):
            self.pass_on(message)
        elif message.get("from_kind") != "ai":
            self.answer(message)

    def answer(self, message: Answer) -> None:
        """To a person. What answers a delegation needs no further answer, unless the script has one."""
        awaited = self._awaited.pop(message["from_agent_id"], None)
        if awaited is not None:
            self._report(awaited["delegation_id"], str(message.get("content")))
        is_result = awaited is not None or message["message_id"] in self._results
        found = script_rules.rule_for(self.script["answers"], "when", str(message.get("content") or ""))
        facts = self._facts_of(message)
        if found is not None:
            self._follow(found[0], message, {**facts, **found[1]})
        elif not is_result and self.script.get("otherwise"):
            self._respond(message, script_rules.fill(self.script["otherwise"], facts))

    def _follow(self, rule: Rule, message: Answer, facts: Facts) -> None:
        """Does what a rule says, and then answers: one lost in between gets the message again."""
        if rule.get("request"):
            self._request(rule["request"], message, facts)
        if rule.get("tell"):
            self._tell(rule["tell"], facts)
        if rule.get("notify"):
            self._session.try_to("notify_task_session", message=script_rules.fill(rule["notify"], facts))
        begun = not rule.get("start") or self._begin_for(rule["start"], message, facts)
        if begun and rule.get("answer"):
            self._respond(message, script_rules.fill(rule["answer"], facts))

    def _request(self, rule: Rule, message: Answer, facts: Facts) -> None:
        names = ("title", "description", "assignee_id", "priority")
        asked = {name: script_rules.fill(rule[name], facts) for name in names}
        made = self._session.try_to("request_task", **asked, message_id=message["message_id"])
        task = made.get("task") or made
        outcome = {
            "task_id": task.get("task_id"),
            "approval": str(task.get("approval") or "requested").replace("_", " "),
            "problem": made.get("message"),
        }
        words = rule.get("answer" if made.get("success") else "refused")
        if words:
            self._respond(message, script_rules.fill(words, {**facts, **outcome}))

    def pass_on(self, message: Answer) -> None:
        """Passes on what a partner said, if the script names another recipient."""
        conversation = self._conversations.get(message["conversation_id"]) or {}
        found = script_rules.rule_for(self.script["conversations"], "about", str(conversation.get("purpose") or ""))
        if found is not None and found[0].get("tell"):
            self._tell(found[0]["tell"], {**self._facts_in(conversation), **self._facts_of(message), **found[1]})

    def _tell(self, rule: Rule, facts: Facts) -> None:
        target = script_rules.fill(rule["target_agent_id"], facts)
        self.write("send_message", script_rules.fill(rule["text"], facts), target_agent_id=target)

    def _respond(self, message: Answer, text: str) -> Answer:
        return self.write("respond_chat", text, message_id=message["message_id"])

    def write(self, tool: str, text: str, **to: str) -> Answer:
        """Sends a message. If the limit per minute is reached, sends it again when the limit allows it."""
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        answer = self._session.try_to(tool, content=text, **to)
        if answer.get("error") != "rateLimited" or not answer.get("retry_after"):
            return answer
        self._session.pause(min(float(answer["retry_after"]), LONGEST_WAIT))
        return self._session.try_to(tool, content=text, **to)

    # --- delegations --------------------------------------------------------------------------------------------------

    def take_on(self, delegation: Answer, given: Answer) -> None:
        purpose = str(delegation.get("purpose") or "")
        found = script_rules.rule_for(self.script["delegations"], "about", purpose)
        rule, groups = found or ({}, {})
        facts = {**self._facts_for(delegation), **groups}
        if rule.get("fail"):
            self._report(delegation["delegation_id"], script_rules.fill(rule["fail"], facts), success=False)
        elif delegation.get("target_kind") == "human":
            text = script_rules.fill(rule["say"], facts) if rule else purpose
            self._say_to_person(delegation, text, given, wait=bool(rule.get("await_answer")))
        elif not delegation.get("conversation_id"):
            text = script_rules.fill(rule["say"], facts) if rule else purpose
            self._begin_for_task(
                delegation, script_rules.first_message(self.script, purpose, facts) if text == purpose else text
            )

    def _say_to_person(self, delegation: Answer, text: str, given: Answer, *, wait: bool) -> None:
        """Once: a delegation that is handed out again may have been said already."""
        target, delegation_id = delegation["target_agent_id"], delegation["delegation_id"]
        # For this task only: another task may send the same text again.
        names = {"from_agent_id": self._session.agent_id, "to_agent_id": delegation["target_agent_id"]}
        wanted = {**names, "related_task_id": delegation["task_id"]}
        before = given.get("context_messages") or ()
        if text not in [str(each.get("content")) for each in before if wanted.items() <= each.items()]:
            answer = self.write("send_message", text, target_agent_id=target, related_task_id=delegation["task_id"])
            if not answer.get("success"):
                self._report(delegation_id, str(answer.get("message")), success=False)
                return
        elif wait and (answered := [person for person in _people(given) if person["from_agent_id"] == target]):
            self._results |= {each["message_id"] for each in answered}
            self._report(delegation_id, str(answered[-1].get("content")))
            return
        if wait:
            self._awaited[target] = delegation
        else:
            self._report(delegation_id, f"delivered to {target}")

    def _begin_for_task(self, delegation: Answer, text: str) -> None:
        purpose = str(delegation.get("purpose") or "")
        answer = self._begin(
            delegation["target_agent_id"],
            text,
            purpose,
            script_rules.turns_for(self.script, purpose, self._facts_for(delegation)),
            delegation_id=delegation["delegation_id"],
        )
        if answer.get("success") and answer.get("created") is False:
            self._postponed.setdefault(answer["conversation_id"], []).append(delegation)
        elif not answer.get("success"):
            self._report(delegation["delegation_id"], str(answer.get("message")), success=False)

    def _report(self, delegation_id: str, result: str, *, success: bool = True) -> None:
        if delegation_id in self._reported:
            return
        self._reported.add(delegation_id)
        self._session.try_to("report_delegation_completed", delegation_id=delegation_id, result=result, success=success)

    # --- conversations ------------------------------------------------------------------------------------------------

    def _begin(self, target: str, text: str, purpose: str, turns: int, **more: Any) -> Answer:
        return self._session.try_to(
            "start_conversation",
            target_agent_id=target,
            initial_message=text[:LONGEST],
            purpose=purpose,
            max_turns=turns,
            **more,
        )

    def _begin_for(self, rule: Rule, message: Answer, facts: Facts) -> bool:
        """A conversation that a person asked for. The person gets a message at its end, or now if it cannot start."""
        about = script_rules.fill(rule["about"], facts)
        text = script_rules.fill(rule["opening"], facts) if rule.get("opening") else ""
        answer = self._begin(
            script_rules.fill(rule["target_agent_id"], facts),
            text or script_rules.first_message(self.script, about, facts),
            script_rules.conversation_purpose(about, self._session.agent_id, message["from_agent_id"]),
            script_rules.turns_for(self.script, about, facts, rule.get("rounds")),
        )
        if not answer.get("success"):
            self._respond(message, f"I could not start that conversation: {answer.get('message')}")
        elif answer.get("created") is False:
            self._respond(message, "I already have a conversation with that agent. Ask me again when it is over.")
        else:
            self._asked[answer["conversation_id"]] = Asked(message["from_agent_id"], rule.get("report"), facts)
            return True
        return False

    def take_turn(self, conversation: Answer) -> None:
        """A refusal is no progress: an agent that is refused again and again ends its session."""
        conversation_id = conversation["conversation_id"]
        move = self.move(conversation)
        answers = [self.speak(conversation_id, move.text)] if move.text is not None else []
        answers += [self.end(conversation_id, move)] if move.ends else []
        if any(answer.get("success") for answer in answers):
            self._session.progressed()

    def move(self, conversation: Answer) -> Move:
        heard = self._heard.get(conversation["conversation_id"], "")
        standing = Standing(str(conversation.get("purpose") or ""), int(conversation.get("turns") or 0), heard)
        return script_rules.move(self.script, standing, self._facts_in(conversation))

    def speak(self, conversation_id: str, text: str) -> Answer:
        say(f"-> {text}")
        return self.write("send_conversation_message", text, conversation_id=conversation_id)

    def end(self, conversation_id: str, move: Move) -> Answer:
        said = {"final_message": move.final, "summary": move.summary}
        return self._session.try_to(
            "end_conversation",
            conversation_id=conversation_id,
            **{name: text[:LONGEST] for name, text in said.items() if text},
        )

    def close(self, ended: Answer) -> None:
        """Tells the one that waits for the end of a conversation."""
        conversation_id = ended["conversation_id"]
        known = self._conversations.pop(conversation_id, ended)
        outcome = self._outcome(known)
        say(f"conversation {conversation_id} has ended: {known.get('reason')}")
        if known.get("delegation_id"):
            found = script_rules.rule_for(self.script["delegations"], "about", str(known.get("purpose") or ""))
            words = script_rules.fill(found[0]["result"], {**outcome, **found[1]}) if found else str(outcome["last"])
            nothing_said = f"The conversation with {outcome['partner']} has ended: {outcome['reason']}."
            success = outcome["reason"] not in CAME_TO_NOTHING and int(known.get("turns") or 0) > 1
            self._report(known["delegation_id"], words or str(outcome["summary"]) or nothing_said, success=success)
        elif (asked := self._who_asked(known)) is not None and asked.report:
            text = script_rules.fill(asked.report, {**asked.facts, **outcome})
            self.write("send_message", text, target_agent_id=asked.person_id)
        for delegation in self._postponed.pop(conversation_id, ()):
            self.take_on(delegation, {})

    def _who_asked(self, known: Answer) -> Asked | None:
        """As this process remembers it; a new process finds the person in the purpose."""
        asked = self._asked.pop(known["conversation_id"], None)
        person_id = script_rules.who_asked(str(known.get("purpose") or ""), self._session.agent_id)
        if asked is not None or person_id is None:
            return asked
        started = [answer["start"] for answer in self.script["answers"] if answer.get("start")]
        return Asked(person_id, started[0].get("report"), {}) if started else None

    # --- what is known ------------------------------------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        known = self._session
        return {"agent_id": known.agent_id, "agent_name": known.agent_name, "project_id": known.project_id}

    def _facts_of(self, message: Answer) -> dict[str, Any]:
        sender = message.get("from_agent_id")
        return {
            **self._facts(),
            "text": message.get("content"),
            "from": message.get("from_name") or sender,
            "from_id": sender,
        }

    def _facts_in(self, conversation: Answer) -> dict[str, Any]:
        partner = conversation.get("with_agent_id")
        return {
            **self._facts(),
            "text": self._heard.get(str(conversation.get("conversation_id")), ""),
            "from": partner,
            "from_id": partner,
            "partner": partner,
            "about": conversation.get("purpose"),
            "turns": conversation.get("turns"),
        }

    def _facts_for(self, delegation: Answer) -> dict[str, Any]:
        known = {name: delegation.get(name) for name in ("purpose", "context")}
        return {**self._facts(), **known, "partner": delegation.get("target_agent_id")}

    def _outcome(self, known: Answer) -> dict[str, Any]:
        last = self._heard.pop(known["conversation_id"], "")
        return {
            "partner": known.get("with_agent_id"),
            "about": known.get("purpose"),
            "purpose": known.get("purpose"),
            "last": last,
            "summary": known.get("summary") or "",
            "reason": known.get("reason"),
        }


def _people(given: Mapping[str, Any]) -> Iterator[Answer]:
    """The messages of people among what was handed out."""
    for message in given.get("pending_messages") or ():
        if not message.get("conversation_id") and message.get("from_kind") != "ai":
            yield message
