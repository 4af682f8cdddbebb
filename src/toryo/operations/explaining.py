"""Why an agent runs or not, in words for people: one sentence for every reason of the launch tables."""

from __future__ import annotations

from toryo.workflow.launch import Action, Decision

_WORDS = {
    "project_paused": "The project is paused; nothing starts in it. Resume it: toryo project resume.",
    "agent_not_assigned": "The agent is not a member of the project.",
    "agent_inactive": "The agent is inactive. Activate it: toryo agent activate.",
    "not_managed": "Nobody starts this agent: it has no provider.",
    "task_withdrawn": "Its main task was taken out of its hands; its process is being stopped.",
    "runaway": "A guard stopped it: it called without getting anywhere.",
    "time_limit": "It has run longer than one launch may.",
    "silent": "Its process is alive but has neither called nor printed for too long.",
    "budget_exhausted": "Today's budget is used up.",
    "blocked_without_in_progress": "All its tasks are blocked. Unblock one, or give it another.",
    "already_running": "It is running, or was started and is about to sign in.",
    "start_pending": "Its start was ordered; its process has not signed in yet.",
    "cooling_down": "It cools down after a failure and is started again by itself.",
    "handing_over": "Another agent's session still lives on its task.",
    "worker_blocked": "It waits, and something below it is blocked or has failed: it is started to decide.",
    "plan_changed": "It waits, and something new needs it: it is started.",
    "workers_finished": "It waits, and nothing is outstanding any more: it is started.",
    "handled_blocked": "It waits, and has seen the block that is left open.",
    "waiting_for_workers": "It waits for those who work below it.",
    "waiting_for_delegation": "It waits for a delegation.",
    "waiting_for_approval": "It waits for an approval.",
    "waiting_for_person": "It waits for a person.",
    "has_in_progress_task": "It has a task in progress: it is started as soon as a Coordinator has a free slot.",
    "no_in_progress_task": "No task of its own is in progress. Move one to in_progress to start it.",
    "no_chat_work": "Nobody wants to talk to it.",
    "has_ready_queue_task": "A task of its queue is ready: it is started as soon as a Coordinator has a free slot.",
    "has_pending_purpose": "Somebody wants to talk to it: it is started as soon as a Coordinator has a free chat slot.",
}


def explained(decision: Decision) -> str:
    told = _WORDS.get(decision.reason, decision.words)
    return f"{told} (stopping)" if decision.action is Action.STOP else told
