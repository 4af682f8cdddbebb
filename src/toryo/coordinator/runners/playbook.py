"""The agent that follows a written plan instead of a model: a manager, or a worker that divides its own task.

This file reads the plan and finds out which of the two it is; what a manager does stands in `managing.py`, a worker
in `working.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toryo.coordinator.runners.managing import Manager
from toryo.coordinator.runners.session import Answer, Handler, Session, common, follow, main, say
from toryo.coordinator.runners.working import Worker

WRONG_CONFIGURATION = 78


def read(path: Path) -> dict[str, Any]:
    """The checked form that a Coordinator writes (JSON), or the YAML that a person wrote, checked here."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        found: dict[str, Any] = json.loads(text)
        return found
    from toryo.coordinator import documents, playbooks

    return playbooks.parse(documents.read(text, str(path)))


def work(session: Session, playbook: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    handlers: dict[str, Handler] = common(session)

    def fetch_task(step: Answer) -> Answer:
        """With the task comes the role: only then is it known what each action means here."""
        answer = session.fetch_task(step)
        profile = session.try_to("get_my_profile").get("agent") or {}
        manages = profile.get("role") == "manager"
        role = Manager(session, playbook) if manages else Worker(session, playbook, environ)
        handlers.update(role.handlers())
        return answer

    handlers["get_task"] = fetch_task
    follow(session, handlers)


def _main() -> None:
    arguments = argparse.ArgumentParser(prog="toryo.coordinator.runners.playbook", description=__doc__)
    arguments.add_argument("--file", type=Path, required=True, help="the playbook: YAML, or JSON as checked before")
    path = arguments.parse_args().file
    try:
        playbook = read(path)
    except Exception as wrong:
        if type(wrong).__name__ not in ("Mistakes", "JSONDecodeError") and not isinstance(wrong, OSError):
            raise
        say(f"error: {wrong}")
        sys.exit(WRONG_CONFIGURATION)
    main("playbook", lambda session: work(session, playbook, os.environ))


if __name__ == "__main__":
    _main()
