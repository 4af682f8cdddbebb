"""Takes the place of an agent's program: writes down how it was started, plays a recorded output, and leaves.

`contract.py` copies it to a folder on the PATH, under the program's name, with a `plan.json` beside it. What it was
pointed to (by arguments or variables) it reads while it runs, as the program would; `record.json` is what it saw.
"""

import json
import os
import re
import stat
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    plan = json.loads((HERE / "plan.json").read_text(encoding="utf-8"))
    generated = Path(plan["generated"])
    given = [*sys.argv[1:], *os.environ.values()]
    seen = {
        "argv": sys.argv[1:],
        "env": dict(os.environ),
        "stdin": sys.stdin.buffer.read().decode("utf-8"),
        "cwd": str(Path.cwd()),
        "pointed": read(sorted(pointed(given, generated))),
        "generated": read(sorted(path for path in generated.rglob("*") if path.is_file())),
    }
    (HERE / "record.json").write_text(json.dumps(seen), encoding="utf-8")
    sys.stdout.write(plan["prints"])
    sys.stdout.flush()
    return int(plan["exit_code"])


def pointed(given: list[str], generated: Path) -> set[Path]:
    """The generated files whose path (or folder) stands in a word or a value."""
    path = re.compile(re.escape(str(generated)) + r"[^\s\"',;:=\]}]*")
    named = {Path(found) for word in given for found in path.findall(word)}
    inside = {each for folder in named if folder.is_dir() for each in folder.rglob("*") if each.is_file()}
    return inside | {each for each in named if each.is_file()}


def read(paths: list[Path]) -> dict[str, dict[str, str]]:
    return {
        path.name: {"text": path.read_text(encoding="utf-8"), "mode": oct(stat.S_IMODE(path.stat().st_mode))}
        for path in paths
    }


if __name__ == "__main__":
    sys.exit(main())
