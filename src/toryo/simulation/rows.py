"""A run in the terminal: one row for each agent."""

from __future__ import annotations

from toryo.simulation.results import Results


def rows(run: Results, width: int = 100) -> list[str]:
    """A line for each agent: `#` it runs, `!` it ends with a failure, `.` nothing runs."""
    longest = run.document["hours"] * 3600 or 1.0
    names = max((len(each) for each in run.agents), default=0)
    columns = max(20, width - names - 3)
    lines = []
    for agent_id in run.agents:
        row = ["."] * columns
        for bar in run.bars:
            if bar.agent_id == agent_id:
                first = min(columns - 1, int(bar.begins / longest * columns))
                last = min(columns - 1, int(bar.ends / longest * columns))
                row[first : last + 1] = ["#"] * (last + 1 - first)
                if bar.ended_badly:
                    row[last] = "!"
        lines.append(f"{agent_id:<{names}}  {''.join(row)}")
    hours = f"{run.document['hours']:.1f} h" if longest >= 3600 else f"{longest / 60:.1f} min"
    lines.append(f"{'':<{names}}  0{hours:>{columns - 1}}")
    return lines
