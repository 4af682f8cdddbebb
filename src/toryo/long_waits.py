"""How long a call waits for what is to happen: a server answers then at the latest, and who calls is more patient."""

from __future__ import annotations

LONGEST_WAIT_SECONDS = 45
"""Programs that call a server give up after about 60."""
