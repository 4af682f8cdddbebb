"""The agent that follows a playbook: as a manager, or as a worker that divides its own task.

This module reads the plan and selects the role; `playbook_manager.py` and `playbook_worker.py` carry it out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from toryo.agents.agent_loop import Answer, Handler, Session, common, follow, main
from toryo.agents.playbook_manager import Manager
from toryo.agents.spec_loading import load_document

OTHERWISE = (
    "I am {{agent_name}}, an agent without a model. I follow a written plan, and cannot chat. You can give me a task."
)


def work(session: Session, playbook: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    handlers: dict[str, Handler] = common(session)

    def fetch_task(step: Answer) -> Answer:
        """With the task comes the role: only then is it known what each action means here."""
        answer = session.fetch_task(step)
        profile = session.try_to("get_my_profile").get("agent") or {}
        manages = profile.get("role") == "manager"
        handlers.update(Manager(session, playbook).handlers() if manages else worker())
        return answer

    def worker() -> dict[str, Handler]:
        """Imported only here: managers, which most are, start nothing, so they must not pay for that."""
        from toryo.agents.playbook_worker import Worker

        return Worker(session, playbook, environ).handlers()

    def chat() -> dict[str, Handler]:
        """Imported only here: workers must not pay for it."""
        from toryo.agents import script_rules
        from toryo.agents.chat_session import Talk

        return Talk(session, script_rules.plain(OTHERWISE)).handlers()

    handlers["get_task"] = fetch_task
    follow(session, handlers, chat)


def _checked(text: str, source: str) -> dict[str, Any]:
    """Imported only for what a person wrote: checking costs more than all the rest of a start."""
    from toryo.formats import playbook_format, yaml_documents

    return playbook_format.parse(yaml_documents.read(text, source))


if __name__ == "__main__":
    playbook = load_document("playbook", _checked)
    main("playbook", lambda session: work(session, playbook, os.environ))
