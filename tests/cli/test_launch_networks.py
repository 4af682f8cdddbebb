"""Where `toryo why` and `toryo task show` say what a sandbox has told of the network of a launch."""

from __future__ import annotations

from tests.cli.conftest import Toryo
from toryo.client import Client, server_discovery

ESCAPE = "evil\x1b[2J.example:443"


def test_ports_and_refused_hosts_stand_where_people_look_for_them(server: Toryo, project: str) -> None:
    agent = f"{project}.ann"
    server.json("agent", "add", agent, "--role", "worker", "--provider", "claude", "--project", project)
    named = ("--project", project, "--assignee", agent, "--status", "in_progress")
    task = server.json("task", "add", "Build", *named)["task_id"]
    place = server_discovery.find(None, None, server.home / "data", role="coordinator", environ={})
    with Client(place.url, place.token) as coordinator:
        asked = {"coordinator_id": project, "free_slots": 1, "running": [], "agent_ids": [agent]}
        asked["providers"] = ["claude"]  # who does not say may have any
        (launch,) = coordinator.call("claim_starts", **asked)["start"]
        launch_id = launch["launch_id"]
        coordinator.call("append_log", launch_id=launch_id, offset=0, text="", ports={"3000": 41237})
        served = "Port 3000 of its program: http://127.0.0.1:41237"
        for command in (("why", agent), ("why", task), ("task", "show", task)):
            assert served in server(*command).out
        refused = {"hosts": ["a.example:443", ESCAPE], "more": 3, "words": "A person can allow it: HOST"}
        coordinator.call("report_process_exit", launch_id=launch_id, exit_code=1, refused_hosts=refused)
    for command in (("why", agent), ("why", task), ("task", "show", task)):
        lines = [line.strip() for line in server(*command).out.splitlines()]
        at = lines.index("Its sandbox refused these hosts:")
        assert lines[at + 1] == "a.example:443"
        assert lines[at + 2].startswith("evil")
        assert "\x1b" not in lines[at + 2]
        assert lines[at + 3 : at + 5] == ["… and 3 more", "A person can allow it: HOST"]
