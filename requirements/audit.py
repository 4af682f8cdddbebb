"""Runs a program that looks for known vulnerabilities, and tells "found some" from "could not look".

`audit.py PROGRAM …`: exits as PROGRAM does (0: nothing known, 1: something found), or 3 where its database could not be
reached. An audit that did not take place must not look like one that found nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys

NOT_REACHED = 3
_UNREACHABLE = re.compile(
    r"ConnectionError|Max retries|timed? ?out|ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ENOAUDIT|ProxyError|SSLError"
    r"|audit endpoint returned an error|ServiceError|Forbidden|HTTPError|status code [45]\d\d| [45]\d\d [A-Z]",
    re.IGNORECASE,
)
_FOUND = re.compile(r"Found \d+ known vulnerabilit|\d+ (vulnerabilit|info|low|moderate|high|critical)", re.IGNORECASE)


def main(command: list[str]) -> int:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    said = ended.stdout + ended.stderr
    print(said.rstrip())
    unasked = "could not be audited" in said or (ended.returncode != 0 and _UNREACHABLE.search(said) is not None)
    if unasked and not _FOUND.search(said):
        print(
            f"Not audited: {command[0]} could not ask its database. Try again where it is reachable.", file=sys.stderr
        )
        return NOT_REACHED
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
