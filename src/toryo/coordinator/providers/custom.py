"""Any MCP client by template: `cli_command` and `cli_args` of the Coordinator's file, as the seed has them.

In the arguments {prompt}, {model}, {mcp_config}, {max_turns} and {working_directory} are filled in. What they do not
name is added as most programs want it: `--model NAME`, and the first words last, after `-p`.
"""

from __future__ import annotations

import json

from toryo.coordinator.agent_mcp_config import mcp_server
from toryo.coordinator.config import ProviderConfig
from toryo.coordinator.failure_words import judge_by_words
from toryo.coordinator.provider import Command, Provider, Setting
from toryo.provider_options import COMMON

MCP_CONFIG = "mcp.json"


def provider(name: str, section: ProviderConfig) -> Provider:
    program = section.cli_command or name

    def prepare(setting: Setting) -> Command:
        values = {
            "{prompt}": setting.prompt,
            "{model}": setting.launch.model or "",
            "{mcp_config}": str(setting.workspace / MCP_CONFIG),
            "{max_turns}": str(setting.max_turns or ""),
            "{working_directory}": str(setting.working_directory),
        }
        arguments = [_filled(argument, values) for argument in section.cli_args]
        named = "\0".join(section.cli_args)
        if setting.launch.model and section.model_flag and "{model}" not in named:
            arguments += [section.model_flag, setting.launch.model]
        if "{prompt}" not in named:
            arguments += [section.prompt_flag] if section.prompt_flag else []
            arguments.append(values["{prompt}"])
        return Command((program, *arguments), files={MCP_CONFIG: _mcp_config(setting)})

    return Provider(name, prepare, judge_by_words, version=(program, "--version"), options=COMMON)


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _mcp_config(setting: Setting) -> str:
    """With the launch credential in it: the file is readable by this user alone and removed at exit."""
    return json.dumps({"mcpServers": {"toryo": mcp_server(setting)}}, indent=2)
