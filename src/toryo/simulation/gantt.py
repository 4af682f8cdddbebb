"""The picture of a run: one row for each agent, one bar for each launch; as SVG, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toryo.simulation.results import Bar, Results

ROW, LEFT, WIDTH, TOP = 18, 130, 960, 46
_LOOK = 'font-family="sans-serif" font-size="11" role="img" aria-label="Launches of each agent over time"'
_STYLE = (
    "<style>.paper{fill:#fff}.words{fill:#222}.line{stroke:#ddd}.task{fill:#3b7dd8}.chat{fill:#8a63d2}"
    ".bad{fill:url(#hatched)}@media (prefers-color-scheme:dark){.paper{fill:#16181d}.words{fill:#e6e6e6}"
    ".line{stroke:#3a3d45}}</style>"
)
_HATCHED = (
    '<defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#d64545"/><rect width="2" height="6" fill="#fff"/></pattern></defs>'
)
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880, 10080)
"""Minutes between two lines of the axis; the first that gives at most 12 of them is used."""


def svg(runs: Sequence[Results]) -> str:
    """One picture for one or several runs, below each other with the same scale. A bar that ended badly is hatched."""
    longest = max((each.document["hours"] * 3600 for each in runs), default=0.0) or 1.0
    parts: list[str] = []
    top = 0
    for each in runs:
        drawn, height = _one(each, longest, top)
        parts += drawn
        top += height
    size = f"0 0 {LEFT + WIDTH + 20} {top}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {_LOOK}>',
            _STYLE,
            _HATCHED,
            f'<rect class="paper" width="{LEFT + WIDTH + 20}" height="{top}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _one(run: Results, longest: float, top: int) -> tuple[list[str], int]:
    said, height = run.document, TOP + ROW * len(run.agents) + 14
    scale = WIDTH / longest
    heading = (
        f"{said['name']}: {said['tasks']['completed']} tasks completed in {said['hours']:.1f} h, "
        f"{said['starts']['total']} starts, ${said['dollars']:.2f}"
    )
    parts = [f'<text class="words" x="8" y="{top + 16}" font-weight="bold">{escape(heading)}</text>']
    for minute in _axis(longest):
        x = LEFT + minute * 60 * scale
        parts.append(f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{top + TOP - 6}" y2="{top + height - 12}"/>')
        parts.append(
            f'<text class="words" x="{x:.1f}" y="{top + TOP - 10}" text-anchor="middle">{_clock(minute)}</text>'
        )
    for number, agent_id in enumerate(run.agents):
        y = top + TOP + number * ROW
        parts.append(
            f'<text class="words" x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(agent_id[:20])}</text>'
        )
        parts += [_bar(bar, scale, y) for bar in run.bars if bar.agent_id == agent_id]
    return parts, height


def _bar(bar: Bar, scale: float, y: int) -> str:
    kind = "bad" if bar.ended_badly else bar.purpose if bar.purpose == "chat" else "task"
    width = max(1.0, (bar.ends - bar.begins) * scale - 0.5)
    minutes = (bar.ends - bar.begins) / 60
    words = f"{bar.title}: {minutes:.1f} min" + (", ended with a failure" if bar.ended_badly else "")
    return (
        f'<rect class="{kind}" x="{LEFT + bar.begins * scale:.1f}" y="{y + 2}" width="{width:.1f}" height="{ROW - 5}">'
        f"<title>{escape(words)}</title></rect>"
    )


def _axis(longest: float) -> list[float]:
    step = next((each for each in _STEPS if longest / 60 / each <= 12), _STEPS[-1])
    if longest < 120:
        return [0.0, longest / 60]
    return [float(minute) for minute in range(0, int(longest / 60) + 1, step)]


def _clock(minute: float) -> str:
    if minute != int(minute):
        return f"{minute * 60:.0f} s"
    return f"{int(minute) // 60}:{int(minute) % 60:02d}"


def text(run: Results, width: int = 100) -> list[str]:
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
