"""The agent that follows a script: in chats it answers, converses and reports by rules; for a task it delegates what
the rules or the task say, and then acts as the command agent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from toryo.agents import plan_choice, script_rules
from toryo.agents.agent_loop import Handler, Session, main
from toryo.agents.command import CommandRunner, Job
from toryo.agents.misbehaviour import Misbehaving
from toryo.agents.spec_loading import load_document
from toryo.formats import command_templates
from toryo.formats.plan_patterns import FACTS


class ScriptRunner(CommandRunner):
    def __init__(self, session: Session, script: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        super().__init__(session, environ)
        self._script = script

    def chat(self) -> dict[str, Handler]:
        return Misbehaving(self._session, self._script).handlers()

    def job(self) -> Job:
        """The task's own wishes, and those of the first rule that fits its title."""
        job, task = super().job(), self._session.task
        title = str(task.get("title") or "")
        for rule in self._script["tasks"]:
            groups = plan_choice.fits(rule["match"], title)
            if groups is not None:
                known = {name: task.get(name) for name in FACTS} | {"context": job.context} | self._who()
                wanted = [_filled(each, {**known, **groups}) for each in rule["delegate"]]
                command = _command(rule["run"], {**known, **groups}) or job.command
                return job._replace(command=command, wanted=[*job.wanted, *wanted])
        return job

    def _who(self) -> dict[str, Any]:
        known = self._session
        return {"agent_id": known.agent_id, "agent_name": known.agent_name, "project_id": known.project_id}


def _command(template: Any, facts: Mapping[str, Any]) -> Any:
    return None if template is None else command_templates.fill(template, lambda name: script_rules.value(name, facts))


def _filled(value: Any, facts: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return script_rules.fill(value, facts)
    if isinstance(value, Mapping):
        return {key: _filled(each, facts) for key, each in value.items()}
    return [_filled(each, facts) for each in value] if isinstance(value, list) else value


def _checked(text: str, source: str) -> dict[str, Any]:
    """Imported only for what a person wrote: checking costs more than all the rest of a start."""
    from toryo.formats import script_format, yaml_documents

    return script_format.parse(yaml_documents.read(text, source))


if __name__ == "__main__":
    script = load_document("script", _checked)
    main("script", lambda session: ScriptRunner(session, script, os.environ).work())
