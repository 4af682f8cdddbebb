"""The tables in the code stand beside the tables in the specification: the same rows, in the same order, same answers.

A changed row is a changed promise: whoever changes one changes it here, too, and runs the models (`test_models_*.py`).
Rows of chat marked + are not in the
specification's table of chat: the guards of task row 4, as far as they can be about a chat, and an archived project.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toryo.operations.launches import reason_texts
from toryo.workflow import chat_rules, launch_rules, manager_rules, next_action, worker_rules
from toryo.workflow.rules import Rule, always, first_match

AGENT = """
1   stop project_paused               project paused (or archived): stop if a task session is live (pause_grace after the pause)
1   hold project_paused               project paused (or archived): else hold
2   stop agent_not_assigned           not a member: stop if a task session is live (stop_grace after the cause)
2   hold agent_not_assigned           not a member: else hold
2   stop agent_inactive               inactive: stop if a task session is live (stop_grace after the cause)
2   hold agent_inactive               inactive: else hold
2   hold not_managed                  not managed (a live session started by hand goes on)
2   hold bad_options                  its options have a mistake (a live session goes on)
3   stop task_withdrawn               live session whose main task is no longer its own, stop_grace after the cause
4   stop runaway                      tripped the runaway guard
4   stop time_limit                   its time limit
4   stop budget_exhausted             or the budget
4   stop silent                       or is silent
5   hold blocked_without_in_progress  blocked tasks and none in progress, and no queue task is ready for it
6   hold already_running              a live task session
6   hold start_pending                a launch not yet signed in
7   hold cooling_down                 in cooldown after failures or a quota message
7   hold budget_exhausted             the budget is used up
"""  # noqa: E501 - a row is a line

MAIN_TASK = """
7a  hold handing_over            another agent's session is still open on it (just reassigned)
8   start worker_blocked         it waits, and a descendant is blocked or failed, and that is new
9   start plan_changed           it waits, and something new needs it
10  start workers_finished       it waits, and nothing is outstanding
11  hold handled_blocked         it waits, and a seen block is left open
12  hold waiting_for_workers     it waits: what is outstanding, workers first
12  hold waiting_for_delegation  it waits: then a delegation
12  hold waiting_for_approval    it waits: then an approval
12  hold waiting_for_person      it waits: then a person
12a hold waiting_for_delegation  a worker's: it left to wait for a delegation that is still open, or can only be told to
12a hold waiting_for_workers     a worker's: all it could be told is wait_for_others
13  start has_in_progress_task   a main task
"""

OTHERWISE = """
14  start has_ready_queue_task       it serves a queue and a task there is ready, on which it would not only be told to wait (as in row 12a)
15  hold  no_in_progress_task        always
"""  # noqa: E501 - a row is a line

CHAT = """
chat stop agent_not_assigned  not a member, and a chat session is live
chat hold agent_not_assigned  not a member
chat stop agent_inactive      inactive, and a chat session is live
chat hold agent_inactive      inactive
+    stop runaway             live session that tripped the runaway guard
+    stop silent              live session that is silent
chat hold not_managed         not managed
+   hold bad_options         its options have a mistake
chat hold already_running     a chat launch or session is live
+    hold project_paused      the project is archived
chat hold cooling_down        chat is in cooldown after failures
chat start has_pending_purpose a message not delivered, a pending delegation, an invitation, its turn in a conversation, or an opened panel
chat hold no_chat_work        always (no chat work)
"""  # noqa: E501 - a row is a line

FIRST = """
1 exit              exit         session over
2 exit              exit         tripped by a guard of row 4
3 report_model      needs_model  model not reported in this session
4 get_notifications interrupted  an undelivered interrupt
5 exit              exit         agent no longer active here
6 exit              exit         task sessions: project paused or archived
7 exit              exit         task sessions: its main task is no longer its own (task_closed if it closed it itself)
"""

WORKER = """
1  get_task                    needs_task              task not fetched in this session
2  create_subtasks             needs_subtask_creation  it never had subtasks and may be decomposed
3  execute_task                fixing_checks           an acceptance check failed at the last report
4  wait_for_delegation         waiting_for_delegation  no subtasks but cancelled ones, and a success report was refused only for an open delegation
5  execute_task                executing_task          no subtasks but cancelled ones
6  report_completion           needs_completion        every subtask completed or cancelled, at least one completed, no awaited delegation open
7  execute_subtask             executing_subtask       an own subtask in progress, below which nothing is open (else: what is open there)
8  start_subtask               needs_start             an own startable subtask
9  wait_for_delegation         waiting_for_delegation  an awaited delegation is open and nothing else can be done
10 wait_for_others             waiting_for_workers     a subtask of another able agent or a person is in progress, or an approval below it is pending
11 review_and_resolve_blocks   needs_review            the rest, at least one, are blocked or failed
12 resolve_dependency_deadlock dependency_deadlock     always (open subtasks, none startable)
"""  # noqa: E501 - a row is a line

MANAGER = """
1 get_task                  needs_task             task not fetched in this session
2 create_subtasks           needs_subtask_creation no subtasks
3 report_completion         needs_completion       every subtask completed or cancelled, at least one completed, no awaited delegation open, and no acceptance check failed at the last report (or something below it has changed since)
4 review_and_resolve_blocks needs_review           nothing in progress, nothing dispatchable, nothing outstanding, some blocked or failed
5 start                     start                  chose start in this session, has not acted on it yet, and something is dispatchable
6 adjust                    adjust                 chose adjust in this session, and has not acted on it yet
7 wait                      waiting_for_workers    chose wait in this session, something is outstanding and nothing is new
8 situational_awareness     situational_awareness  always (any other choice is void)
"""  # noqa: E501 - a row is a line


CHAT_SESSION = """
1 get_pending_messages has_messages         messages, delegations, invitations or endings to deliver
2 get_pending_messages your_turn            it is this agent's turn in an active conversation
3 exit                 exit                 the chat is no longer needed (panel closed or never opened, no open conversation, no delegation in progress)
4 logout               idle                 idle longer than chat.idle_timeout and not in a pending or active conversation
5 wait_for_messages    waiting_for_messages always (waits for the rows above)
"""  # noqa: E501 - a row is a line


def written(table: str) -> list[list[str]]:
    return [line.split(None, 3) for line in table.strip().splitlines()]


def launches(rules: Iterable[Rule[Any, launch_rules.Verdict]]) -> list[list[str]]:
    return [[rule.row, rule.then.action.value, rule.then.reason, rule.words] for rule in rules]


def steps(rules: Iterable[Rule[Any, Any]]) -> list[list[str]]:
    return [[rule.row.removeprefix("first "), rule.then.action, rule.then.state, rule.words] for rule in rules]


def test_the_launch_decision_asks_about_the_agent_first() -> None:
    assert launches(launch_rules.AGENT_ROWS) == written(AGENT)


def test_the_launch_decision_then_asks_about_each_main_task() -> None:
    assert launches(launch_rules.MAIN_TASK_ROWS) == written(MAIN_TASK)


def test_the_launch_decision_ends_with_its_queue_and_nothing_to_do() -> None:
    assert launches(launch_rules.OTHERWISE_ROWS) == written(OTHERWISE)


def test_every_row_by_which_anything_is_decided_is_printed_in_the_reference() -> None:
    """The page is made from the very tables: no rule stands beside them."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tables.md").read_text()
    rules = [
        rule
        for module in (launch_rules, worker_rules, manager_rules, chat_rules, next_action)
        for rule in _rules_in(vars(module))
    ]
    assert {rule.row for rule in rules} >= {"1", "7a", "12a", "14", "15", "chat", "first 7"}
    assert [rule.words for rule in rules if f"| {rule.words} |" not in page] == []


def _rules_in(names: dict[str, Any]) -> list[Rule[Any, Any]]:
    """Every rule that a module holds, by itself or in whatever sequence."""
    found: list[Rule[Any, Any]] = []
    for name in names.values():
        if isinstance(name, Rule):
            found.append(name)
        elif isinstance(name, list | tuple):
            found += _rules_in(dict(enumerate(name)))  # type: ignore[arg-type]
    return found


def test_chat_is_decided_by_a_table_of_its_own() -> None:
    rows = [["chat" if row == "+" else row, *said] for row, *said in written(CHAT)]
    assert launches(launch_rules.CHAT_ROWS) == rows


def test_every_session_asks_the_first_rows_first() -> None:
    assert steps(next_action.FIRST_ROWS) == written(FIRST)


def test_a_worker_is_told_by_the_workers_table() -> None:
    assert steps(worker_rules.WORKER_ROWS) == written(WORKER)


def test_a_manager_is_told_by_the_managers_table() -> None:
    assert steps(manager_rules.MANAGER_ROWS) == written(MANAGER)


def test_a_chat_session_is_told_by_the_table_of_chat() -> None:
    assert steps(chat_rules.CHAT_ROWS) == written(CHAT_SESSION)
    leaving = {rule.then.action: rule.then.reason for rule in chat_rules.CHAT_ROWS if rule.then.reason}
    assert leaving == {"exit": "user_closed_chat", "logout": "session_timeout"}


def test_every_reason_is_told_to_people_in_a_sentence_of_its_own() -> None:
    rows: list[Rule[Any, launch_rules.Verdict]] = [
        *launch_rules.AGENT_ROWS,
        *launch_rules.MAIN_TASK_ROWS,
        *launch_rules.CHAT_ROWS,
    ]
    for rule in (*rows, *launch_rules.OTHERWISE_ROWS):
        decision = launch_rules.Decision(rule.then.action, rule.then.reason, rule.row, rule.words)
        told = reason_texts.explained(decision)
        assert told.removesuffix(" (stopping)") not in ("", rule.words), rule.then.reason
        assert told.endswith(" (stopping)") is (rule.then.action is launch_rules.Action.STOP)


def test_the_last_row_of_every_table_always_holds() -> None:
    tables: list[Any] = [
        launch_rules.MAIN_TASK_ROWS,
        launch_rules.CHAT_ROWS,
        worker_rules.WORKER_ROWS,
        manager_rules.MANAGER_ROWS,
    ]
    tables += [chat_rules.CHAT_ROWS, launch_rules.OTHERWISE_ROWS]
    assert all(table[-1].when is always for table in tables)
    assert always(object())


def test_the_first_row_that_holds_wins_and_without_one_nothing_does() -> None:
    def row(name: str) -> Rule[str, str]:
        return Rule(name, "", lambda seen: name in seen, name)

    won = [first_match([row("a"), row("b"), row("c")], seen) for seen in ("cb", "a", "abc", "x")]
    assert [rule.row if rule else None for rule in won] == ["b", "a", "a", None]


def test_one_may_choose_under_the_last_four_rows_of_the_managers_table() -> None:
    assert {rule.then.action for rule in manager_rules.MANAGER_ROWS[-4:]} == manager_rules.MAY_CHOOSE
