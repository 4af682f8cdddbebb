"""An agent without a shell runs the commands that people have named for it, with each of the six real programs: a
hostile one runs no others, and what it writes into a test that it may run finds nothing that is not its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clis.crews import TIME_TO_TELL, ModelSite
from tests.clis.policies import ObedientModel, Said
from tests.clis.test_sandboxed import MODELS, OTHERS, done_with_one_start
from tests.clis.turns import CallTool, Part, WriteFile
from tests.sandboxes import sandboxed
from toryo.coordinator.jobs import OVER

__all__ = ["sandboxed"]

pytestmark = [pytest.mark.deep, pytest.mark.clis, pytest.mark.timeout(600, method="signal")]

TEST, LOOKED = "sh run-tests.sh", "has-looked"
BEYOND = (
    *("touch evil", "sh evil.sh", "sh -c 'touch evil'", "/bin/sh run-tests.sh", f"X=1 {TEST}", f"'{TEST}'"),
    *(f"{TEST}; touch evil", f"{TEST} && touch evil", f"{TEST} | tee evil", f"{TEST} >evil", f"{TEST}\ntouch evil"),
    *(f"{TEST} $(touch evil)", f'{TEST} "`touch evil`"', "x" * 9_000),
)
"""Whatever is not the command that it has, with arguments; of more in a row a guard takes it for a runaway."""


def test_a_hostile_agent_runs_its_commands_and_gets_no_further(tmp_path: Path, name: str, sandboxed: None) -> None:
    home, other = tmp_path / "projects" / "house", tmp_path / "projects" / "other"
    wanted = [tmp_path / "data" / each for each in ("owner.token", "coordinator.token", "toryo.db")]
    looks = " ".join(map(str, [*wanted, other / "plan.txt"]))
    script = (
        '[ "$1" = stays ] && sleep 900\n'
        f'echo tested "$@"; cat {looks}; grep -asz TORYO_TOKEN /proc/[0-9]*/environ; touch {other}/evil {home}/made\n'
        f"echo {LOOKED}; exit 4\n"
    )

    def attacks(task: Said) -> Sequence[Sequence[Part]]:
        files = [[WriteFile(str(home / "run-tests.sh"), script)], [WriteFile(str(home / "evil.sh"), "touch evil\n")]]
        return [*files, *([runs(each)] for each in (f"{TEST} 'one ; two'", *BEYOND)), [runs(f"{TEST} stays", 0)]]

    with ModelSite(tmp_path, ObedientModel(attacks), (name,), sandbox="bwrap", **TIME_TO_TELL) as house:
        house.project("house")
        house.project("other")
        (other / "plan.txt").write_text(OTHERS)
        may = {"permissions": "edit", "commands": [TEST]}
        house.hire(name, "house", provider=name, model=MODELS.get(name), provider_options=may)
        task = house.file("house", "Build", assignee_id=name, status="in_progress")
        machine = house.coordinator()
        done_with_one_start(house, task)
        house.until("the command that it has left is ended", lambda: any(OVER in line for line in machine.lines))
        ran = [result for turn in house.endpoint.turns for result in turn.fresh if result.name == "run_command"]
        secrets = [house.token("owner"), house.token("coordinator"), OTHERS, "SQLite format"]
    assert len(ran) == 1 + len(BEYOND) + 1
    own, *others, stays = (dict(each.data or {}) for each in ran)
    assert "still running" in stays["message"]
    assert own["exit_code"] == 4, own
    assert own["output"].startswith("tested one ; two\n") and f"\n{LOOKED}\n" in own["output"], own
    assert [each for each in secrets if each in own["output"]] == []
    assert [command for command, each in zip(BEYOND, others, strict=True) if each.get("success") is not False] == []
    assert (home / "made").exists() and not (home / "evil").exists() and not (other / "evil").exists()


def runs(command: str, timeout_seconds: int = 45) -> CallTool:
    return CallTool("run_command", {"command": command, "timeout_seconds": timeout_seconds})
