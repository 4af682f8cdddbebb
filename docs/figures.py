"""Draws docs/figures/*.svg: what stands in each figure, and how boxes and arrows look. docs/generate.py writes them.

Colors are CSS variables. A browser that shows a file alone (GitHub) takes them from the reader's system; the site puts
the drawing into the page, and docs/site/stage.py sets them by the page's own switch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

Point = tuple[float, float]

LIGHT = "--ink:#1f2328;--soft:#57606a;--fill:#f6f8fa;--edge:#8c959f;--accent:#0b6e4f;--tint:#e2f3eb;--warn:#9a4d00"
DARK = "--ink:#e6edf3;--soft:#a3adb8;--fill:#21262d;--edge:#8b949e;--accent:#4cc38a;--tint:#123427;--warn:#f0a35e"
STYLE = """\
.toryo-figure text{fill:var(--ink);font:14px system-ui,sans-serif}
.toryo-figure .small{fill:var(--soft);font-size:12px}
.toryo-figure .code{font-family:ui-monospace,monospace;font-size:13px}
.toryo-figure .strong{font-weight:600}
.toryo-figure rect{fill:var(--fill);stroke:var(--edge);stroke-width:1.2}
.toryo-figure rect.accent{fill:var(--tint);stroke:var(--accent)}
.toryo-figure rect.frame{fill:none;stroke-dasharray:5 4}
.toryo-figure path{fill:none;stroke:var(--edge);stroke-width:1.5}
.toryo-figure path.accent{stroke:var(--accent)}
.toryo-figure path.warn{stroke:var(--warn);stroke-dasharray:5 4}
.toryo-figure marker path{fill:var(--edge);stroke:none}
.toryo-figure marker.accent path{fill:var(--accent)}
.toryo-figure marker.warn path{fill:var(--warn)}
"""
ALONE = f".toryo-figure{{{LIGHT}}}\n@media (prefers-color-scheme:dark){{.toryo-figure{{{DARK}}}}}\n{STYLE}"
"""The style of a file that is shown alone: light or dark as the reader's system is."""
IN_PAGE = f".toryo-figure{{{LIGHT}}}\n[data-md-color-scheme=slate] .toryo-figure{{{DARK}}}\n{STYLE}"
"""The style of all drawings within the site's pages: light or dark as the page is."""
LINE = 18
"""From one line of text to the next."""


class Figure:
    """A drawing of boxes, arrows and texts. Places are in pixels, from the top left."""

    def __init__(self, name: str, title: str, width: int, height: int) -> None:
        self.name, self.title, self.width, self.height = name, title, width, height
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, *lines: str, kind: str = "") -> None:
        """A box with its lines in the middle; a line that begins with `~` is small, with a backquote is code."""
        self._parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        top = y + height / 2 - (len(lines) - 1) * LINE / 2 + 5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + number * LINE, line)

    def frame(self, x: float, y: float, width: float, height: float, title: str) -> None:
        """A dashed border around several things, with its title at the top left, if it has one."""
        self._parts.append(f'<rect class="frame" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        if title:
            self.text(x + 12, y + 20, f"~{title}", anchor="start")

    def arrow(self, *points: Point, kind: str = "", label: str = "", at: Point | None = None) -> None:
        """A line through the points with a head at its end; `label` stands above its middle, or at `at`."""
        way = "M" + " L".join(f"{x} {y}" for x, y in points)
        head = f"{self.name}-{kind or 'plain'}"
        self._parts.append(f'<path class="{kind}" d="{way}" marker-end="url(#{head})"/>')
        if label:
            (x1, y1), (x2, y2) = points[0], points[-1]
            x, y = at or ((x1 + x2) / 2, (y1 + y2) / 2 - 7)
            self.text(x, y, label)

    def line(self, *points: Point, kind: str = "") -> None:
        self._parts.append(f'<path class="{kind}" d="M{" L".join(f"{x} {y}" for x, y in points)}"/>')

    def text(self, x: float, y: float, line: str, *, anchor: str = "middle") -> None:
        looks = {"~": "small", "`": "code", "*": "strong"}.get(line[0], "")
        words = escape(line[1:] if looks else line)
        self._parts.append(f'<text class="{looks}" x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>')

    def svg(self) -> str:
        heads = "".join(
            f'<marker id="{self.name}-{kind}" class="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>'
            for kind in ("plain", "accent", "warn")
        )
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="toryo-figure" role="img" '
            f'aria-label="{escape(self.title)}" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}">'
        )
        inside = [f"<title>{escape(self.title)}</title>", f"<style>\n{ALONE}</style>", f"<defs>{heads}</defs>"]
        return "\n".join([opening, *inside, *self._parts, "</svg>"]).replace(' class=""', "") + "\n"


def processes() -> Figure:
    figure = Figure("processes", "The processes of Toryo and what they say to each other", 760, 390)
    figure.box(20, 20, 200, 64, "*People", "~dashboard, CLI, REST")
    figure.box(280, 20, 200, 64, "*Orchestrators", "~programs that create tasks")
    figure.box(540, 20, 200, 64, "*Queue agents", "~programs that run already")
    figure.box(
        200,
        160,
        360,
        84,
        "*Server (one or several)",
        "~operations, rules, housekeeping",
        "~MCP, REST, events, dashboard",
    )
    figure.arrow((120, 84), (120, 190), (197, 190))
    figure.text(128, 130, "~create tasks, approve", anchor="start")
    figure.arrow((380, 84), (380, 157))
    figure.text(388, 125, "`create_task", anchor="start")
    figure.arrow((640, 84), (640, 190), (563, 190))
    figure.text(648, 130, "`poll_tasks", anchor="start")
    figure.box(20, 300, 200, 64, "*Database", "~SQLite or PostgreSQL")
    figure.box(280, 300, 200, 64, "*Coordinator", "~one for each machine")
    figure.box(540, 300, 200, 64, "*Agents' programs", "~Claude Code, command …")
    figure.arrow((240, 247), (140, 297), label="~all state", at=(155, 268))
    figure.arrow((380, 297), (380, 247), label="`claim_starts", at=(438, 277))
    figure.arrow((480, 332), (537, 332), kind="accent", label="~starts", at=(508, 324))
    figure.arrow((660, 297), (560, 230), kind="accent", label="`get_next_action", at=(690, 262))
    return figure


def call() -> Figure:
    figure = Figure("call", "The way of one call through the server", 760, 372)
    figure.frame(14, 58, 732, 236, "")
    figure.text(734, 78, "~one transaction", anchor="end")
    figure.text(380, 28, '`report_completed(result="success", …)')
    figure.arrow((90, 22), (90, 94))
    steps = (
        ("identify", "~who calls?"),
        ("admit", "~may it call this?"),
        ("validate", "~are the arguments", "~right?"),
        ("guard", "~is the session", "~still at work?"),
    )
    for number, (name, *words) in enumerate(steps):
        x = 30 + number * 182
        figure.box(x, 97, 150, 76, f"*{name}", *words)
        if number:
            figure.arrow((x - 32, 135), (x - 3, 135))
    figure.arrow((651, 173), (651, 187), (105, 187), (105, 207), kind="accent")
    later = (
        ("replay or handle", "~the same key again:", "~the same answer"),
        ("count", "~towards the guards"),
        ("record", "~the session, the events"),
    )
    for number, (name, *words) in enumerate(later):
        x = 30 + number * 182
        figure.box(x, 210, 150, 72, f"*{name}", *words, kind="accent")
        if number:
            figure.arrow((x - 32, 246), (x - 3, 246), kind="accent")
    figure.arrow((544, 246), (651, 246), (651, 312), kind="accent")
    figure.box(576, 315, 150, 46, "*commit", kind="accent")
    figure.arrow((573, 338), (547, 338), kind="accent")
    figure.box(394, 315, 150, 46, "*hint", "~wakes who waits")
    figure.box(30, 315, 300, 46, "*refusal", "~changes nothing and names the next step")
    figure.arrow((22, 173), (22, 338), (28, 338), kind="warn")
    figure.line((30, 168), (22, 168), (22, 173), kind="warn")
    return figure


def launch() -> Figure:
    figure = Figure("launch", "The states of a launch", 760, 250)
    figure.box(20, 80, 130, 60, "*decision", "~says start")
    figure.box(230, 80, 130, 60, "`ordered", "~credential created", kind="accent")
    figure.box(440, 80, 130, 60, "`signed_in", "~one session", kind="accent")
    figure.box(630, 80, 110, 60, "`exited")
    figure.arrow((150, 110), (227, 110))
    figure.arrow((360, 110), (437, 110), label="~sign-in", at=(399, 100))
    figure.arrow((570, 110), (627, 110), label="~ends", at=(608, 100))
    figure.box(230, 190, 130, 46, "`expired")
    figure.arrow((295, 140), (295, 187), kind="warn", label="~no sign-in within 120 s", at=(383, 168))
    figure.box(440, 190, 130, 46, "`lost")
    figure.arrow((505, 140), (505, 187), kind="warn", label="~lease expired", at=(560, 168))
    figure.frame(214, 40, 372, 112, "live: at most one for each agent, project and purpose")
    return figure


def session() -> Figure:
    figure = Figure("session", "One task, three sessions", 760, 262)
    figure.text(20, 50, "*Task", anchor="start")
    figure.box(130, 30, 500, 32, "`in_progress")
    figure.box(640, 30, 100, 32, "`completed", kind="accent")
    figure.text(20, 115, "*Sessions", anchor="start")
    figure.box(130, 92, 130, 40, "~first session", kind="accent")
    figure.box(310, 92, 130, 40, "~second session", kind="accent")
    figure.box(490, 92, 140, 40, "~third session", kind="accent")
    for x, words in ((260, "~machine fails"), (440, "~told to wait"), (630, "~reports success")):
        figure.line((x, 92), (x, 160))
        figure.text(x, 176, words)
    figure.text(20, 225, "*Lease", anchor="start")
    figure.box(130, 205, 130, 30, "~renewed by calls", kind="")
    figure.arrow((260, 220), (307, 220), kind="warn")
    figure.text(284, 252, "~lease expires: the next session resumes the task")
    figure.box(310, 205, 130, 30, "~renewed by calls")
    figure.box(490, 205, 140, 30, "~renewed by calls")
    return figure


def next_action() -> Figure:
    figure = Figure("next-action", "How the next action is found", 760, 290)
    figure.box(20, 100, 150, 90, "*Facts", "~tasks, sessions,", "~launches, events")
    figure.arrow((170, 145), (227, 145), label="~snapshot", at=(198, 135))
    figure.frame(230, 30, 290, 230, "decision table: the first true row wins")
    rows = (
        ("~1  has not read its task", "~no", ""),
        ("~2  may split the task", "~no", ""),
        ("~…", "", ""),
        ("~8  a subtask can be started", "~yes", "accent"),
        ("~…", "", ""),
        ("~12  none of the above", "", ""),
    )
    for number, (words, holds, kind) in enumerate(rows):
        y = 62 + number * 31
        figure.box(244, y, 262, 26, kind=kind)
        figure.text(254, y + 18, words, anchor="start")
        if holds:
            figure.text(488, y + 18, holds)
    figure.box(590, 100, 150, 90, "`start_subtask", "~instruction,", "~tools, reason", kind="accent")
    figure.arrow((506, 168), (548, 168), (548, 145), (587, 145), kind="accent")
    figure.arrow((665, 190), (665, 278), (95, 278), (95, 193), kind="accent")
    figure.text(640, 215, "~the agent acts:", anchor="end")
    figure.text(640, 232, "~the facts change", anchor="end")
    return figure


def waiting() -> Figure:
    figure = Figure("waiting", "A manager leaves while its workers work", 760, 262)
    for y, name in ((50, "Manager"), (125, "Worker A"), (200, "Worker B")):
        figure.text(20, y + 5, f"*{name}", anchor="start")
        figure.line((110, y), (740, y))
    figure.box(115, 30, 130, 40, "~plan, start", "~then wait", kind="accent")
    figure.box(400, 30, 110, 40, "~start B", "~then wait", kind="accent")
    figure.box(650, 30, 90, 40, "~report", kind="accent")
    figure.text(322, 43, "~no process")
    figure.text(580, 43, "~no process")
    figure.box(250, 105, 120, 40, "~works", kind="accent")
    figure.box(515, 180, 105, 40, "~works", kind="accent")
    figure.arrow((180, 70), (180, 125), (247, 125))
    figure.arrow((370, 125), (455, 125), (455, 73), label="~completed: new", at=(425, 163))
    figure.arrow((490, 70), (490, 200), (512, 200))
    figure.arrow((620, 200), (695, 200), (695, 73), label="~nothing outstanding", at=(680, 240))
    return figure


def delegation() -> Figure:
    figure = Figure("delegation", "A task session delegates a question to its agent's chat session", 760, 350)
    lanes = ((90, "Task session"), (282, "Delegation"), (512, "Chat session"), (682, "Other member"))
    for x, name in lanes:
        figure.box(x - 74, 14, 148, 36, f"*{name}")
        figure.line((x, 50), (x, 340))
    figure.arrow((90, 90), (279, 90), label="`delegate_to_chat_session", at=(184, 82))
    figure.box(237, 98, 90, 26, "`pending")
    figure.arrow((512, 150), (285, 150), label="`get_pending_messages", at=(397, 142))
    figure.box(232, 160, 100, 26, "`processing", kind="accent")
    figure.arrow((512, 206), (679, 206), label="~asks, turn by turn", at=(597, 198))
    figure.arrow((682, 236), (515, 236), label="~answers", at=(597, 229))
    figure.arrow((512, 272), (285, 272), label="`report_delegation_completed", at=(397, 264))
    figure.box(232, 282, 100, 26, "`completed", kind="accent")
    figure.arrow((282, 328), (93, 328), label="~the result", at=(190, 321))
    figure.box(30, 110, 120, 180, "~goes on, or", "~waits and leaves")
    return figure


def queue() -> Figure:
    figure = Figure("queue", "A task on its way through a queue", 760, 270)
    figure.box(20, 80, 130, 64, "*Creator", "~person or program")
    figure.box(220, 80, 130, 64, "`todo", "~in the queue")
    figure.box(430, 80, 130, 64, "`in_progress", "~claimed, with lease", kind="accent")
    figure.box(630, 80, 110, 64, "`completed", kind="accent")
    figure.arrow((150, 112), (217, 112), label="`create_task", at=(184, 66))
    figure.arrow((350, 112), (427, 112), kind="accent", label="`poll_tasks", at=(389, 66))
    figure.arrow((560, 112), (627, 112), kind="accent", label="`submit_result", at=(595, 66))
    figure.arrow((460, 144), (460, 178), (320, 178), (320, 147), kind="warn")
    figure.text(390, 197, "~claim lost or retryable: attempt + 1, after a pause")
    figure.box(630, 190, 110, 64, "`failed", "~dead letter")
    figure.arrow((530, 144), (530, 222), (627, 222), kind="warn", label="~no attempts left", at=(575, 242))
    figure.arrow(
        (685, 190), (685, 168), (600, 168), (600, 32), (285, 32), (285, 77), label="~a person requeues it", at=(440, 25)
    )
    return figure


FIGURES: Mapping[str, Callable[[], Figure]] = {
    "processes": processes,
    "call": call,
    "launch": launch,
    "session": session,
    "next-action": next_action,
    "waiting": waiting,
    "delegation": delegation,
    "queue": queue,
}
