"""The implementation agent: writes the files that the task's context names.

The task arrives as JSON on stdin. In a real team, a model would write the code.
"""

import json
import sys
from pathlib import Path

task = json.load(sys.stdin)
directory = Path(__file__).parents[1] / "out" / task["context"]["request"]
directory.mkdir(parents=True, exist_ok=True)
for name in task["context"]["files"]:
    (directory / name).write_text(f'"""{task["task_description"]}."""\n')
json.dump({"files": task["context"]["files"]}, sys.stdout)
