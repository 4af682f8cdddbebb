"""No model: an agent that talks by written rules, `provider_options.script` of the agent.

The rules are checked here, before anything starts, and handed to the runner in their checked form.
"""

from __future__ import annotations

import json
import sys

from toryo.agents import env_vars
from toryo.agents import script as runner  # imported for its bytecode too, which no sandbox could write
from toryo.coordinator.failure_words import judge_runner
from toryo.coordinator.provider import BadConfig, Command, Metering, Provider, Setting
from toryo.formats import script_format

FILE = "script.json"


def _prepare(setting: Setting) -> Command:
    try:
        script = script_format.read(setting.options.get("script"), setting.plans or setting.working_directory)
    except script_format.Mistakes as wrong:
        raise BadConfig(f"The script of agent {setting.launch.agent_id} has mistakes:\n{wrong}") from wrong
    python = (sys.executable, "-P", "-u", "-m", runner.__name__)
    argv = (*python, "--file", str(setting.workspace / FILE))
    return Command(argv, env_vars.runner(setting.workspace), {FILE: json.dumps(script, ensure_ascii=False)})


PROVIDER = Provider("script", _prepare, judge_runner, metering=Metering.AS_TOLD, reads_project=True)
