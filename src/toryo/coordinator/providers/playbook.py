"""No model: a manager (or a worker) that follows a written plan, `provider_options.playbook` of the agent.

The plan is checked here, before anything starts, and handed to the runner in its checked form.
"""

from __future__ import annotations

import json
import sys

from toryo.agents import env_vars
from toryo.agents import playbook as runner  # imported for its bytecode too, which no sandbox could write
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.provider import BadConfig, Command, Metering, Provider, Setting
from toryo.formats import playbook_format

FILE = "playbook.json"


def _prepare(setting: Setting) -> Command:
    try:
        playbook = playbook_format.read(setting.options.get("playbook"), setting.plans or setting.working_directory)
    except playbook_format.Mistakes as wrong:
        raise BadConfig(f"The playbook of agent {setting.launch.agent_id} has mistakes:\n{wrong}") from wrong
    python = (sys.executable, "-P", "-u", "-m", runner.__name__)
    argv = (*python, "--file", str(setting.workspace / FILE))
    return Command(argv, env_vars.runner(setting.workspace), {FILE: json.dumps(playbook, ensure_ascii=False)})


PROVIDER = Provider("playbook", _prepare, judge_runner, metering=Metering.AS_TOLD, reads_project=True)
