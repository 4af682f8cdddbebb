"""`python -m benchmarks [NAME…]`: runs every benchmark of this folder, or those named, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main() -> int:
    chosen = sys.argv[1:] or names()
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(names())}.", file=sys.stderr)
        return 2
    codes = []
    for name in chosen:
        print(f"\n=== {name}\n", flush=True)
        codes.append(subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
