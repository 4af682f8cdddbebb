"""The tables in the code have the rows of the specification: the same conditions, order and answers.

A changed row is a changed promise. To change one, change it here too, and run the models (`test_models_*.py`). The
conditions are written for readers who do not know the code. Rows of chat marked + are not in the specification's table
of chat: the guards of task row 4, as far as they can be about a chat, and an archived project.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toryo.operations.launches import reason_texts
from toryo.workflow import chat_rules, launch_rules, manager_rules, next_action, worker_rules
from toryo.workflow.rules import Rule, always, first_match

AGENT = """
1   stop project_paused               The project is paused or archived, and the task session is still open after the grace period (pause_grace)
1   hold project_paused               The project is paused or archived
2   stop agent_not_assigned           The agent is no longer a member of the project, and its task session is still open after the grace period (stop_grace)
2   hold agent_not_assigned           The agent is not a member of the project
2   stop agent_inactive               The agent is inactive, and its task session is still open after the grace period (stop_grace)
2   hold agent_inactive               The agent is inactive
2   hold not_managed                  The agent has no provider, so Toryo does not start it (an open session continues)
2   hold bad_options                  The agent's provider options have a mistake (an open session continues)
3   stop task_withdrawn               The session's main task was reassigned, is no longer in progress, or is below a closed task, and the session is still open after the grace period (stop_grace)
4   stop runaway                      The task session made too many calls without progress (runaway guard)
4   stop time_limit                   The task session has reached the time limit of one launch
4   stop budget_exhausted             A task session is open, and today's budget is used up
4   stop agent_budget_exhausted       A task session is open, and the agent's own budget of today is used up
4   stop task_budget_exhausted        A task session is open, and the budget of its main task, or of a task above it, is used up
4   stop silent                       The process of the task session has neither called nor printed anything for too long
5   hold blocked_without_in_progress  The agent has blocked tasks, no task in progress, and no ready task in its queue
6   hold already_running              The agent's task session is already open
6   hold start_pending                The agent is being started, and its process has not signed in yet
7   hold cooling_down                 The agent is in cooldown after a failure, or the quota of its account is used up
7   hold budget_exhausted             Today's budget is used up
7   hold agent_budget_exhausted       The agent's own budget of today is used up
"""  # noqa: E501 - a row is a line

MAIN_TASK = """
7a  hold handing_over            Another agent's session on this task is still open (the task was reassigned a moment ago)
7a  hold task_budget_exhausted   The budget of the task, or of one above it, is used up
7b  hold waiting_for_answer      A person has not answered yet what the agent has asked (a manager with open subtasks goes on with these)
7c  hold in_review               The agent has reported success, and a reviewer has not decided yet
7c  hold checking                The agent has reported success, and a Coordinator runs the acceptance checks
7d  hold may_conflict            The project holds back what may conflict (conflict_policy), the task has no worktree yet, and it would change the same files as a task that an agent works on
7d  hold waiting_for_merge       The same, with a completed task whose work is not merged yet
8   start worker_blocked         The manager waits, and a task below this one was blocked or has failed since its last look
9   start plan_changed           The manager waits, and since its last look a subtask became ready to start, a delegation or a question ended, or a person wrote on this task or one below it
10  start workers_finished       The manager waits, and nothing is left to wait for
11  hold handled_blocked         The manager waits, and a blocked or failed task that it has already seen is not resolved yet
12  hold waiting_for_workers     The manager waits for agents: one works on a task below this one, or will as soon as it can
12  hold waiting_for_delegation  The manager waits for the result of a delegation
12  hold waiting_for_answer      The manager waits for a person's answer
12  hold waiting_for_approval    The manager waits for the approval of a task
12  hold waiting_for_person      The manager waits for a person who works on a task below this one
12a hold waiting_for_delegation  The worker waits for the result of a delegation: it left for that reason, or can do nothing else
12a hold waiting_for_workers     The worker could only wait for others who work on its subtasks
13  start has_in_progress_task   The agent has this task in progress, and can work on it
"""  # noqa: E501 - a row is a line

OTHERWISE = """
14  start has_ready_queue_task       A task in the agent's queue is ready, and the agent could do more with it than wait (as in row 12a)
15  hold  no_in_progress_task        The agent has no task in progress and no ready task in a queue
"""  # noqa: E501 - a row is a line

BEFORE_A_START = """
16  hold  reserve_kept               A window of the account has only its reserve left, which is kept for tasks of high and critical priority
17  hold  no_spare_quota             The task has low priority, its account starts such tasks only with quota to spare, and its windows are used faster than they pass
"""  # noqa: E501 - a row is a line

CHAT = """
chat stop agent_not_assigned  The agent is no longer a member of the project, and its chat session is open
chat hold agent_not_assigned  The agent is not a member of the project
chat stop agent_inactive      The agent is inactive, and its chat session is open
chat hold agent_inactive      The agent is inactive
+    stop runaway             The chat session made too many calls without progress (runaway guard)
+    stop silent              The process of the chat session has neither called nor printed anything for too long
chat hold not_managed         The agent has no provider, so Toryo does not start it
+   hold bad_options         The agent's provider options have a mistake
chat hold already_running     The agent's chat session is open or being started
+    hold project_paused      The project is archived
chat hold cooling_down        The agent's chat is in cooldown after a failure, or the quota of its account is used up
chat start has_pending_purpose Someone waits for the agent in chat: an undelivered message, a pending delegation, an invitation, its turn in a conversation, or an opened chat panel
chat hold no_chat_work        Nobody waits for the agent in chat
"""  # noqa: E501 - a row is a line

FIRST = """
1 exit              exit         The session has ended
2 exit              exit         A guard stopped the session: too many calls without progress, the time limit, or a budget
3 report_model      needs_model  The agent has not reported its model in this session
4 get_notifications interrupted  A notification that interrupts the agent has not been delivered yet
5 exit              exit         The agent is inactive, or no longer a member of the project
6 exit              exit         In a task session: the project is paused or archived
7 exit              exit         In a task session: the main task was reassigned, is no longer in progress, or is below a closed task (reason task_closed if this session closed it)
"""  # noqa: E501 - a row is a line

WORKER = """
1  get_task                    needs_task              The agent has not read its task in this session
1a wait_for_answer             waiting_for_answer      A person has not answered yet what the agent has asked
1b wait_for_answer             in_review               The agent has reported success, and a reviewer has not decided yet
1c execute_task                reviewing               The task is a review of other work, and no open subtask or delegation prevents the report
2  create_subtasks             needs_subtask_creation  The task never had subtasks, and the worker may split it
3  execute_task                fixing_checks           An acceptance check failed at the last report, and no open subtask or delegation prevents the next one
4  wait_for_delegation         waiting_for_delegation  The task has no subtasks (or only cancelled ones), and only an open delegation prevents the report of success
5  execute_task                executing_task          The task has no subtasks (or only cancelled ones)
6  report_completion           needs_completion        Every subtask is completed or cancelled, at least one is completed, and no awaited delegation is open
7  execute_subtask             executing_subtask       One of the worker's own subtasks is in progress, nobody reviews it, and it has no open subtasks (open ones are looked at instead)
8  start_subtask               needs_start             One of the worker's own subtasks can be started
9  wait_for_delegation         waiting_for_delegation  An awaited delegation is open, and nothing else can be done
10 wait_for_others             waiting_for_workers     Another agent or a person works on a subtask or reviews it, or a subtask of others starts by itself, or a task below waits for approval
11 review_and_resolve_blocks   needs_review            All remaining subtasks are blocked or failed
12 resolve_dependency_deadlock dependency_deadlock     Subtasks are open, but none can be started
"""  # noqa: E501 - a row is a line

MANAGER = """
1 get_task                  needs_task             The agent has not read its task in this session
1a wait_for_answer          waiting_for_answer     A person has not answered yet what the manager has asked, and no subtask is open
1b wait_for_answer          in_review              The manager has reported success, and a reviewer has not decided yet
2 create_subtasks           needs_subtask_creation The task has no subtasks
3 report_completion         needs_completion       Every subtask is completed or cancelled, at least one is completed, no awaited delegation is open, no acceptance check failed at the last report (or a task below has changed since), and the manager has not chosen adjust
4 review_and_resolve_blocks needs_review           Some subtasks are blocked or failed, no subtask is in progress or can be started, and nothing is left to wait for
5 start                     start                  The manager chose start in this session and has not acted on it yet, and a subtask can be started
6 adjust                    adjust                 The manager chose adjust in this session and has not acted on it yet
7 wait                      waiting_for_workers    The manager chose wait in this session, there is something to wait for, and nothing has changed since its last look
8 situational_awareness     situational_awareness  The manager has not chosen, or what it chose is not possible now
"""  # noqa: E501 - a row is a line


CHAT_SESSION = """
1 get_pending_messages has_messages         Messages, delegations, invitations or notices of ended conversations wait to be delivered
2 get_pending_messages your_turn            It is the agent's turn in a conversation
3 exit                 exit                 Nobody needs the chat: its panel is closed, no conversation is open, and no delegation is in progress
4 logout               idle                 The chat has been idle for longer than chat.idle_timeout, and no conversation is open
5 wait_for_messages    waiting_for_messages Nothing to do yet: the call waits until one of the rows above applies
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
    assert launches(launch_rules.START_ROWS) == written(BEFORE_A_START)


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
    for rule in (*rows, *launch_rules.OTHERWISE_ROWS, *launch_rules.START_ROWS):
        decision = launch_rules.Decision(rule.then.action, rule.then.reason, rule.row, rule.words)
        told = reason_texts.explanation(decision)
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
