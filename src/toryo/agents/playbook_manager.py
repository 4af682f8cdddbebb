"""A manager with a playbook: creates all subtasks, starts ready ones, waits, retries, reviews, reports.

It keeps no state between processes: its actions follow from the board and the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toryo.agents.agent_loop import Answer, Handler, Session, say
from toryo.agents.playbook_session import Planned

NO_WORKERS = "no_available_workers"


class Manager(Planned):
    def __init__(self, session: Session, playbook: Mapping[str, Any]) -> None:
        super().__init__(session, playbook)
        self._refused: set[str] = set()
        """Subtasks that could not be started in this session: no free worker, or a condition is not met."""
        self._seen_ready: list[tuple[Answer, str]] = []
        """What the last look found ready, and its assignee: it is started without looking again."""

    def handlers(self) -> dict[str, Handler]:
        return {
            "create_subtasks": self.divide,
            "situational_awareness": self.look,
            "start": self.start,
            "adjust": self.adjust,
            "report_completion": self.report_done,
            "review_and_resolve_blocks": self.review,
        }

    def divide(self, _: Answer) -> Answer:
        if not _active(self._people()):
            return self._session.report("blocked", NO_WORKERS)
        answer = self.create(assign=True)
        if not answer.get("success") and answer.get("error") not in ("conflict", "duplicateSubtask"):
            return self._session.report("blocked", f"The subtasks could not be created: {answer.get('message')}")
        return answer

    def look(self, step: Answer) -> Answer:
        """Really looks, tells what it sees, and chooses."""
        subtasks, people = self.subtasks(), self._people()
        for completion in self._session.try_to("get_recent_completions").get("completions") or ():
            say(f"{completion.get('result')}: {completion.get('title')} ({completion.get('assignee_id')})")
        if settled := self.settle(subtasks):
            return settled
        if not [subtask for subtask in subtasks if subtask["status"] not in ("completed", "cancelled")]:
            # All done, but an acceptance check failed and the plan has no step that would fix it.
            if refuted := self._refuted(step):
                return refuted
            situation = self.situation(subtasks)
            if all((one := self.step_of(subtask)) is not None and situation.left_out(one.id) for subtask in subtasks):
                return self.report_done(step)
            return self._wait(subtasks)
        if self.to_try_again(subtasks):
            return self._choose("adjust", "something failed and is retried")
        ready = self._ready(subtasks, people)
        self._seen_ready = ready
        if ready:
            return self._choose("start", f"ready: {', '.join(each['title'] for each, _ in ready)}")
        return self._wait(subtasks)

    def start(self, _: Answer) -> Answer:
        """Everything that is ready, not only the first; a refusal concerns one subtask."""
        answer: Answer = {}
        started = False
        ready, self._seen_ready = self._seen_ready or self._ready(self.subtasks(), self._people()), []
        for subtask, assignee in ready:
            answer = self._start(subtask, assignee)
            started = started or bool(answer.get("success"))
        return answer if started else self._wait(self.subtasks())

    def adjust(self, _: Answer) -> Answer:
        subtasks = self.subtasks()
        return self.try_again(self.to_try_again(subtasks)) or self._choose_again(subtasks)

    def review(self, step: Answer) -> Answer:
        """Tries again; else does what the plan has for failures; else reports."""
        again = self.to_try_again(self.subtasks())
        if again and (answer := self.try_again(again)).get("success"):
            return answer
        subtasks = self.subtasks()
        if settled := self.settle(subtasks):
            return settled
        if self.unfixed(subtasks):
            return self.report_stuck(subtasks)
        return self._refuted(step) or self.report_done(step)

    # --- assigning ----------------------------------------------------------------------------------------------------

    def _people(self) -> list[Answer]:
        return list(self._session.try_to("list_subordinates").get("subordinates") or ())

    def _ready(self, subtasks: Sequence[Answer], people: Sequence[Answer]) -> list[tuple[Answer, str]]:
        """The subtasks that can be started now, each with its assignee; no worker gets more than it has room for."""
        unfinished = {subtask["task_id"] for subtask in subtasks if subtask["status"] != "completed"}
        to_settle = {decision.id for decision in self.situation(subtasks).decisions()}
        busy = Counter(subtask["assignee_id"] for subtask in subtasks if subtask["status"] == "in_progress")
        found = []
        for subtask in subtasks:
            waits = unfinished & set(subtask.get("dependencies") or ())
            if subtask["status"] != "todo" or subtask["task_id"] in self._refused or waits:
                continue
            if (step := self.step_of(subtask)) is not None and step.id in to_settle:
                continue
            assignee = self._assignee(subtask, people, busy)
            if assignee is not None and subtask.get("approval", "approved") == "approved":
                found.append((subtask, assignee))
                busy[assignee] += 1
        return found

    def _assignee(self, subtask: Answer, people: Sequence[Answer], busy: Counter[str]) -> str | None:
        """Its assignee, or the one it should have: able, with room, and with the least to do."""
        step = self.step_of(subtask)
        named = subtask.get("assignee_id") or (step.assignee if step else None)
        able = [each for each in _active(people) if named in (None, each["agent_id"])]
        if step is not None and step.capability and not named:
            able = [each for each in able if step.capability in (each.get("capabilities") or ())]
        free = [each for each in able if _room(each, busy[each["agent_id"]])]
        least = min(free, key=lambda each: (busy[each["agent_id"]], each.get("open_tasks") or 0), default=None)
        return None if least is None else str(least["agent_id"])

    def _start(self, subtask: Answer, assignee: str) -> Answer:
        task_id = subtask["task_id"]
        answer: Answer = {"success": True}
        if not subtask.get("assignee_id"):
            answer = self._session.try_to("assign_task", task_id=task_id, assignee_id=assignee)
        if answer.get("success"):
            answer = self._session.try_to("update_task_status", task_id=task_id, status="in_progress")
        if answer.get("success"):
            say(f"started: {subtask['title']} ({assignee})")
        else:
            self._refused.add(task_id)
        return answer

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _choose(self, action: str, reason: str) -> Answer:
        say(f"{action}: {reason}")
        return self._session.try_to("select_action", action=action, reason=reason)

    def _choose_again(self, subtasks: Sequence[Answer]) -> Answer:
        if self._ready(subtasks, self._people()):
            return self._choose("start", "nothing to adjust")
        return self._wait(subtasks)

    def _wait(self, subtasks: Sequence[Answer]) -> Answer:
        """If no event could wake it, the server refuses to let it wait: the plan has ended. If a subtask has ended
        since its last look, it looks again."""
        answer = self._choose("wait", "others are working")
        if answer.get("success") or answer.get("error") != "notNow":
            return answer
        if self.subtasks() != list(subtasks):
            say("something has changed since: looking again")
            return answer
        return self.report_stuck(subtasks, f"Nothing can be started, and no one is working: {self._why(subtasks)}")

    def _why(self, subtasks: Sequence[Answer]) -> str:
        people = _active(self._people())
        needed = {step.capability for subtask in subtasks if (step := self.step_of(subtask)) and step.capability}
        missing = needed - {each for one in people for each in one.get("capabilities") or ()}
        if not people:
            return NO_WORKERS
        return f"no agent here has the capability {', '.join(sorted(missing))}" if missing else "see each subtask"

    def _refuted(self, step: Answer) -> Answer:
        """Names the checks that failed; what each of them found is beside it, with the evidence of the task."""
        failed = [str(check.get("check")) for check in step.get("failed_checks") or ()]
        why = f"All subtasks are done, but acceptance checks failed: {'; '.join(failed)}"
        return self._session.report("failed", why) if failed else {}


def _active(people: Sequence[Answer]) -> list[Answer]:
    return [person for person in people if person.get("status") == "active"]


def _room(person: Mapping[str, Any], given: int) -> bool:
    """By what it is doing in this project, here or elsewhere in the tree; `given` counts this plan's alone."""
    at_work = max(given, len(person.get("doing") or ()))
    return at_work < int(person.get("max_parallel_tasks") or 1)
