"""`toryo logs`: the output of an agent's process: of one launch, or of the newest of an agent or task."""

from __future__ import annotations

import signal
import time
from typing import Annotated, Any

import typer

from toryo import failures
from toryo.cli import output, shell_completion, task_lookup, usage, wider_rights
from toryo.cli.command_context import Here, argument, command, flag
from toryo.cli.exit_codes import Failure
from toryo.cli.reconnecting import following
from toryo.domain.tasks import CLOSED
from toryo.domain.texts import one_line

LAUNCH = "lau_"
WAIT_SECONDS = 20
"""How long one look waits at the server while following."""
LAST_OUTPUT_SECONDS = 1.0
"""How long the last output may take to reach the server."""


def add(app: typer.Typer) -> None:
    command(app, "logs")(logs)


def logs(
    here: Here,
    of: Annotated[
        str,
        argument(
            "AGENT|TASK|LAUNCH",
            "A launch; or an agent or a task (id, title, end of its id): its running or newest launch.",
            complete=shell_completion.agents,
        ),
    ],
    follow: Annotated[bool, flag("Keep printing new output until the process ends.", "--follow", "-f")] = False,
) -> None:
    """Show the output of an agent's process. If you do not name a launch, its id is printed."""
    launch = of if of.startswith(LAUNCH) else _newest(here, of)
    if here.json:
        text, last = _rest(here, launch, 0)
        said = {"next_offset": last["next_offset"], "usage": last["launch"]["usage"], "removed": last.get("removed")}
        output.document({"success": True, "launch_id": launch, "text": text, **said})
        return
    text, last = _rest(here, launch, 0)
    output.text(text)
    if follow and not last["ended"]:
        last = _follow(following(here), launch, last["next_offset"])
    for remark in remarks(last):
        output.say(remark)


def network(launch: dict[str, Any]) -> list[str]:
    """Where the ports of a launch's program are, and which hosts its sandbox has refused: one a line, for they are
    whatever the program has asked for."""
    lines = [f"Port {each['port']} of its program: {each['address']}" for each in launch.get("ports") or ()]
    if (refused := launch.get("refused_hosts")) is None:
        return lines
    more = [f"  … and {refused['more']} more"] if refused["more"] else []
    said = [refused["words"]] if refused["words"] else []
    hosts = [f"  {one_line(each)}" for each in refused["hosts"]]
    return [*lines, "Its sandbox refused these hosts:", *hosts, *more, *said]


def _follow(here: Here, launch: str, offset: int) -> dict[str, Any]:
    """Until the process has ended and nothing more comes: its last output may arrive after the news of its end."""
    last: dict[str, Any] = {"ended": False, "next_offset": offset}
    while not last["ended"]:
        text, last = _rest(here, launch, last["next_offset"], wait_seconds=WAIT_SECONDS)
        output.text(text)
    quiet = False
    while not quiet:
        time.sleep(LAST_OUTPUT_SECONDS)
        text, last = _rest(here, launch, last["next_offset"])
        output.text(text)
        quiet = not text
    return last


def remarks(last: dict[str, Any]) -> list[str]:
    """What to print after the output: that it is no longer kept, how it ended unless well, and what was used
    by the end."""
    used = last["launch"]["usage"] if last["ended"] else None
    told = [f"used: {usage.brief(used)}"] if used and "lower_bound" in used else []
    return [*filter(None, [last.get("removed"), _how_it_ended(last["launch"])]), *told]


_ORDERED = {
    failures.Ended.STOPPED.value: "it was told to stop",
    failures.Ended.COORDINATOR_STOPPED.value: "its Coordinator stopped",
}


def _how_it_ended(launch: dict[str, Any]) -> str:
    """Empty while it runs, and where it has ended well."""
    error, code, number = (launch.get(name) for name in ("exit_error", "exit_code", "exit_signal"))
    if not launch.get("ended_at") or not (error or code or number):
        return ""
    how = f" by signal {number}{_name_of(number)}" if number else f" with exit code {code}" if code is not None else ""
    reason, _, said = (error or "").partition(":")
    nature = failures.nature_of(error)
    why = nature.words if nature is not None else _ORDERED.get(reason, reason)
    because = f", because {why}" if why else ""
    return f"ended {output.clock(launch['ended_at'])}{how}{because}" + (f": {one_line(said)}" if said.strip() else "")


def _name_of(number: int) -> str:
    return f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""


def _newest(here: Here, of: str) -> str:
    """The newest launch of an agent, else for a task."""
    launches = [] if of.startswith(task_lookup.PREFIX) else here.get("/launches", agent_id=of)["launches"]
    if not launches and (task := task_lookup.task(here, of)).startswith(task_lookup.PREFIX):
        launches = here.get("/launches", task_id=task)["launches"]
        if not launches:
            raise _nobody_for(here.get(f"/tasks/{task}")["task"])  # one that is not there is refused
    if not launches:
        refuse_unknown(here, of)
        raise Failure(f"{of} has not been started yet.", f"See why: toryo why {of}")
    shown, *others = in_order(launches)
    task = f", for {shown['task_id']}" if shown["task_id"] else ""
    which = "newest" if shown["ended_at"] else "running"
    whose = f"{shown['agent_id']}{_with_program(shown)}"
    output.say(f"Showing the {which} launch {shown['launch_id']} of {whose}{task}, {_since(shown)}")
    for other in others:
        if not other["ended_at"]:
            output.say(f"Also running: {other['launch_id']} ({other['purpose']}): toryo logs {other['launch_id']}")
    return str(shown["launch_id"])


def _with_program(launch: dict[str, Any]) -> str:
    """Of a model, and with its account, if it is not the provider's default."""
    from toryo.domain.agents import Program

    if launch["ai_type"] is None or launch["account"] is None:
        return ""
    return f" with {Program(launch['ai_type'], launch['model'], launch['account']).name}"


def refuse_unknown(here: Here, of: str) -> None:
    """Raises the refusal of an agent that is not there; where none is like it and a task is, that of the task."""
    from toryo.client import RefusalError

    try:
        here.get(f"/agents/{of}")
    except RefusalError as no_agent:
        if wider_rights.MEANT not in no_agent.instruction:
            try:
                here.get(f"/tasks/{of}")
            except RefusalError as no_task:
                if wider_rights.MEANT in no_task.instruction:
                    raise no_task from None
            no_agent.message = f"There is no agent and no task {of}."
            no_agent.instruction = "List them: toryo agent list, toryo task list --all."
        raise


def _nobody_for(task: dict[str, Any]) -> Failure:
    """Why nothing was printed for a task, and where to look instead."""
    task_id = task["task_id"]
    if task["agent_type"]:
        return Failure(
            f"{task_id} is a task of the queue {task['agent_type']}. Queue agents fetch it, so no launch was "
            "made for it.",
            f"See who works on it and what was reported: toryo task show {task_id}",
        )
    if task["status"] in CLOSED:
        return Failure(
            f"No agent was started for {task_id}, and it is {task['status']}.",
            f"See what happened: toryo trace {task_id}",
        )
    if task["parent_task_id"]:
        return Failure(
            f"No agent was started for {task_id} itself.",
            f"See the output for its parent task: toryo logs {task['parent_task_id']}",
        )
    return Failure(
        f"No agent has been started for {task_id} yet.", f"See what it waits for: toryo task watch {task_id}"
    )


def in_order(launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What runs comes first, and what works on a task before what talks; else the order stays (newest first)."""
    return sorted(
        launches, key=lambda each: (bool(each["ended_at"]), not each["ended_at"] and each["purpose"] != "task")
    )


def _since(launch: dict[str, Any]) -> str:
    ended = f", ended {output.clock(launch['ended_at'])}" if launch["ended_at"] else ""
    return f"started {output.clock(launch['ordered_at'])}{ended}"


def _rest(here: Here, launch: str, offset: int, wait_seconds: int | None = None) -> tuple[str, dict[str, Any]]:
    """Everything from an offset on, and the last answer about it; waits only if there is none."""
    parts: list[str] = []
    while True:
        page = here.get(f"/launches/{launch}/log", offset=offset, wait_seconds=wait_seconds)
        parts.append(page["text"])
        if page["next_offset"] == offset or page["ended"]:
            return "".join(parts), page
        offset, wait_seconds = page["next_offset"], None
