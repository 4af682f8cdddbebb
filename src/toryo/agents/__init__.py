"""The agents that are part of Toryo: separate programs that use the server like any other MCP client.

`command`, `playbook` and `script` are what the Coordinator starts (`python -m toryo.agents.command`); the formats of
playbooks and scripts are in `toryo.formats`. They start often: nothing is imported here.
"""
