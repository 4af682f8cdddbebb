"""How a Coordinator reports the end of one check: of a task's acceptance checks, and of those of the merge queue."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from toryo.domain import acceptance
from toryo.operations.calls.catalogue import Parameters
from toryo.operations.calls.fields import Printed


class CheckRun(Parameters):
    check: Printed = Field(max_length=2_000, description="Which one: the file, the command or the limits.")
    outcome: Literal["passed", "failed", "flaky", "error"] = Field(
        description="flaky: failed, then passed. error: it cannot run, whatever the work is."
    )
    runs: int = Field(1, ge=1, le=100, description="How often it ran.")
    seconds: float = Field(0.0, ge=0, le=1_000_000, description="How long all runs took.")
    exit_code: int | None = Field(None, ge=-(2**31), lt=2**31, description="Of the last run.")
    output: Printed = Field("", max_length=acceptance.LONGEST_OUTPUT, description="What was found, or its end.")
