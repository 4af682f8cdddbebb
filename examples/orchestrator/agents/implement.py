"""Implements: writes the file that the task's context names. Stands in for a model that writes code."""

import json
import sys
from pathlib import Path

task = json.load(sys.stdin)
directory = Path(__file__).parents[1] / "out" / task["context"]["request"]
directory.mkdir(parents=True, exist_ok=True)
for name in task["context"]["files"]:
    (directory / name).write_text(f'"""{task["task_description"]}."""\n')
json.dump({"files": task["context"]["files"]}, sys.stdout)
