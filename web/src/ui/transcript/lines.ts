// What the lines of a log mean. They are written by src/toryo/coordinator/log_lines.py, and this reads them again; logs
// of before have calls and results of one line each, which are read the same.
export interface Call {
  kind: "call";
  line: number;
  lines: number;
  tool: string;
  args: string;
  result: string | null;
  failed: boolean;
  /** When it was called and answered, if that is known. */
  at: number | null;
  done: number | null;
}

interface Text {
  kind: "words" | "output" | "note" | "trouble" | "used";
  line: number;
  lines: number;
  text: string;
}

export interface Minute {
  kind: "minute";
  line: number;
  lines: 0;
  at: number;
}

export type Item = Call | Text | Minute;

/** From this character of the log on, its text came at this time. */
export interface PieceTime {
  offset: number;
  at: number;
}

/** Lines of one block: blocks are drawn only where one looks. */
const MOST_TOGETHER = 40;
const MOST_OPEN = 100;
const MINUTE_MS = 60_000;
const MARK = /^(?:→ |[←✗](\d*)(?: |$)|Σ |[·!] )/;
// eslint-disable-next-line no-control-regex -- that is how it is told
const COLOURED = /\u001b\[[\d;]*m/;

/** Reads a log as it grows: each line once. `spoken`: of a program that says words and calls tools. */
export class Reader {
  private items: Item[] = [];
  private shown: readonly Item[] = [];
  private open: Call[] = [];
  private position = 0;
  private line = 0;
  private minute = 0;
  private piece = -1;
  /** Where a line that goes on belongs. */
  private last: { call: Call; part: "args" | "result" } | null = null;

  constructor(private readonly spoken: boolean) {}

  /** All items of the text, which begins with the text of before. `ended`: its last line is whole, too. */
  read(text: string, times: readonly PieceTime[], ended: boolean): readonly Item[] {
    const before = this.position;
    for (let end = text.indexOf("\n", this.position); end !== -1; end = text.indexOf("\n", this.position)) {
      this.take(text.slice(this.position, end), this.timeAt(this.position, times));
      this.position = end + 1;
    }
    if (ended && this.position < text.length) {
      this.take(text.slice(this.position), this.timeAt(this.position, times));
      this.position = text.length;
    }
    if (this.position !== before) this.shown = [...this.items];
    return this.shown;
  }

  private timeAt(position: number, times: readonly PieceTime[]): number | null {
    while ((times[this.piece + 1]?.offset ?? Infinity) <= position) this.piece++;
    return times[this.piece]?.at ?? null;
  }

  private take(line: string, at: number | null): void {
    const mark = this.spoken ? MARK.exec(line) : null;
    const number = this.line++;
    if (this.spoken && this.last !== null && (line.startsWith("│ ") || line === "│")) {
      this.goOn(this.last, line.slice(2), number);
      return;
    }
    this.mark(number, at);
    this.last = null;
    const rest = mark === null ? line : line.slice(mark[0].length);
    switch (mark?.[0].charAt(0)) {
      case "→":
        return this.called(rest, number, at);
      case "←":
      case "✗":
        return this.answered(rest, line.startsWith("✗"), Number(mark?.[1] || 1) - 1, number, at);
      case "Σ":
        return this.add({ kind: "used", line: number, lines: 1, text: rest });
      case "·":
        return this.add({ kind: "note", line: number, lines: 1, text: rest });
      case "!":
        return this.add({ kind: "trouble", line: number, lines: 1, text: rest });
      default:
        return this.text(line, number);
    }
  }

  /** A mark where another minute begins. */
  private mark(line: number, at: number | null): void {
    if (at === null || Math.floor(at / MINUTE_MS) === this.minute) return;
    this.minute = Math.floor(at / MINUTE_MS);
    this.items.push({ kind: "minute", line, lines: 0, at });
  }

  private called(rest: string, line: number, at: number | null): void {
    const space = rest.indexOf(" ");
    const [tool, args] = space === -1 ? [rest, ""] : [rest.slice(0, space), rest.slice(space + 1)];
    const call: Call = { kind: "call", line, lines: 1, tool, args, result: null, failed: false, at, done: null };
    this.add(call);
    this.open.push(call);
    if (this.open.length > MOST_OPEN) this.open.shift();
    this.last = { call, part: "args" };
  }

  private answered(text: string, failed: boolean, which: number, line: number, at: number | null): void {
    const known = this.open.splice(which, 1)[0];
    if (known === undefined) {
      const call: Call = { kind: "call", line, lines: 1, tool: "", args: "", result: text, failed, at: null, done: at };
      this.add(call);
      this.last = { call, part: "result" };
      return;
    }
    this.last = { call: this.replaced(known, { result: text, failed, done: at }, line), part: "result" };
  }

  private goOn({ call, part }: { call: Call; part: "args" | "result" }, text: string, line: number): void {
    const longer = this.replaced(call, { [part]: `${call[part] ?? ""}\n${text}` }, line);
    const place = this.open.indexOf(call);
    if (place !== -1) this.open[place] = longer;
    this.last = { call: longer, part };
  }

  /** A new value in its place: what draws items compares them. */
  private replaced(call: Call, change: Partial<Call>, line: number): Call {
    const place = this.items.lastIndexOf(call);
    const isLast = this.items.slice(place + 1).every((each) => each.kind === "minute");
    const next = { ...call, ...change, lines: isLast ? line - call.line + 1 : call.lines };
    this.items[place] = next;
    return next;
  }

  private text(line: string, number: number): void {
    const kind = this.spoken && !COLOURED.test(line) ? "words" : "output";
    const before = this.items.at(-1);
    if (before?.kind === kind && before.lines < MOST_TOGETHER * (kind === "words" ? 10 : 1))
      this.items[this.items.length - 1] = { ...before, lines: before.lines + 1, text: `${before.text}\n${line}` };
    else if (line.trim() !== "" || kind === "output") this.add({ kind, line: number, lines: 1, text: line });
  }

  private add(item: Item): void {
    this.items.push(item);
  }
}

/** The place of the item that holds a line of the log. A result that came later than other calls stands with its call. */
export function placeOf(items: readonly Item[], line: number, text: string): number {
  let [low, high] = [0, items.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((items[middle]?.line ?? 0) <= line) low = middle;
    else high = middle - 1;
  }
  const found = items[low];
  if (found === undefined || line < found.line + Math.max(1, found.lines)) return low;
  const wanted = text.replace(/^(?:[←✗]\d* |│ )/, "");
  for (let place = low; place >= Math.max(0, low - MOST_OPEN); place--) {
    const each = items[place];
    if (each?.kind === "call" && (each.result ?? "").includes(wanted)) return place;
  }
  return low;
}

export type Filter = "all" | "words" | "calls" | "errors";

const KEPT: Record<Filter, (item: Item) => boolean> = {
  all: () => true,
  words: (item) => item.kind === "words" || item.kind === "output",
  calls: (item) => item.kind === "call",
  errors: (item) => item.kind === "trouble" || (item.kind === "call" && item.failed),
};

export function filtered(items: readonly Item[], filter: Filter): readonly Item[] {
  return filter === "all" ? items : items.filter(KEPT[filter]);
}
