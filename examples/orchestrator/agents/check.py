"""The testing agent: checks that every file of the plan exists and compiles.

The task arrives as JSON on stdin. A message on stderr becomes the error of the task.
"""

import json
import sys
from pathlib import Path

task = json.load(sys.stdin)
directory = Path(__file__).parents[1] / "out" / task["context"]["request"]
for name in task["context"]["files"]:
    file = directory / name
    if not file.exists():
        sys.exit(f"{name} is missing")
    compile(file.read_text(), name, "exec")
json.dump({"passed": len(task["context"]["files"])}, sys.stdout)
