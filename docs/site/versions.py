"""The versions of the documentation site that stand side by side in one folder, for the selector in the header.

`make site` builds each version into a folder of its own name. To publish an older one again, check out its tag and run
`make site` with the same folder; nothing else is built again.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_VERSION = re.compile(r"(\d+(?:\.\d+)+)(?:\.dev(\d+))?")
_TO_THE_NEWEST = """\
<!doctype html>
<meta charset="utf-8">
<title>Toryo</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">Toryo {version}</a>
"""


def current() -> str:
    """The version that the sources describe."""
    source = (ROOT / "src" / "toryo" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
    assert found is not None
    return found[1]


def index(folder: Path) -> None:
    """Writes `versions.json`, newest first, as the theme reads it, and a start page that leads to the newest version
    that was released, or to the newest one.

    Raises ValueError if the folder holds no version."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and _VERSION.fullmatch(path.name)]
    if not names:
        raise ValueError(f"{folder} holds no version of the site.")
    names.sort(key=_age, reverse=True)
    start = next((name for name in names if ".dev" not in name), names[0])
    listed = [{"version": name, "title": name, "aliases": []} for name in names]
    (folder / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (folder / "index.html").write_text(_TO_THE_NEWEST.format(version=start), encoding="utf-8")


def _age(name: str) -> tuple[list[int], float]:
    """A version comes after those that were made on the way to it."""
    numbers, made = _VERSION.fullmatch(name).groups()  # type: ignore[union-attr]
    return [int(part) for part in numbers.split(".")], float(made or "inf")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        index(Path(sys.argv[1]))
    else:
        print(current())
