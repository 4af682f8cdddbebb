"""Writes docs/reliability.md: `python -m tests.reliability` (make reliability).

What is quick is run first, which takes some minutes; of what is long, the results of the last run are taken
(`page.LONG` names their commands). `--long` also runs the faults of the world as long as they may take: half an hour
more. `--last` runs nothing. Exits 1 if a run has failed; the page says so as well.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.reliability import faults, page, suite

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.reliability", description=__doc__)
    parser.add_argument("--last", action="store_true", help="run nothing: write the page from the last results")
    parser.add_argument("--long", action="store_true", help="also run all faults of the world, with long outages")
    parser.add_argument("--results", type=Path, default=page.RESULTS, help="the folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the file to write")
    asked = parser.parse_args(argv)
    failed = 0 if asked.last else suite.run(asked.results / "suite.json")
    if asked.long and not asked.last:
        failed = faults.main([faults.LONG]) or failed
    asked.page.write_text(page.written(page.read(asked.results), page.suite_itself()), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
