// Reads what `git diff` prints: its pieces, one per file, and (only of a file that is looked at) their lines. Agents
// write the files: nothing in them may hide a line from who reviews it.
import type { FileChange } from "@/api/model";
import { visible } from "@/ui";

export interface Line {
  kind: "same" | "added" | "removed";
  old: number | null;
  now: number | null;
  text: string;
  /** Where it differs from the line that it was, or has become. */
  differs?: [number, number];
  /** The last line of a file that does not end with a line break. */
  unended?: true;
  /** It ends with CR LF, as on Windows. */
  cr?: true;
}

export interface Hunk {
  /** Which lines of the file they were, and are. */
  range: string;
  /** The first and last line now; of what is gone, before. */
  span: { from: number; to: number };
  /** The words that git puts behind the numbers: a function, a heading. */
  where: string;
  lines: Line[];
}

export interface Row {
  left: Line | null;
  right: Line | null;
}

/** What each file's piece says, in the order of `files`; undefined where the patch was cut before it. */
export function piecesOf(patch: string, files: readonly FileChange[]): (string | undefined)[] {
  const inOrder = new Map<string, string>(); // by the first line: a file whose type has changed has two pieces
  for (const piece of patch.split(/(?<=\n)(?=diff --git )/)) {
    const [first] = piece.split("\n", 1);
    if (first) inOrder.set(first, (inOrder.get(first) ?? "") + piece);
  }
  const all = [...inOrder.values()];
  return files.map(
    (each, place) => inOrder.get(`diff --git a/${each.old_path ?? each.path} b/${each.path}`) ?? all[place],
  );
}

const HEAD = /^@@ (-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?) @@ ?(.*)$/s;

export function hunksOf(piece: string): Hunk[] {
  const lines = piece.split("\n");
  const found: Hunk[] = [];
  for (let at = 0; at < lines.length; at++) {
    const head = HEAD.exec(lines[at] ?? "");
    if (head === null) continue;
    const hunk: Hunk = {
      range: head[1] ?? "",
      span: spanOf(head),
      where: visible(head[6]?.trimEnd() ?? ""),
      lines: [],
    };
    at = read(lines, at + 1, hunk, [Number(head[2]), Number(head[4])], Number(head[3] ?? 1) + Number(head[5] ?? 1));
    markDifferences(hunk.lines);
    found.push(hunk);
  }
  return found;
}

function spanOf(head: RegExpExecArray): Hunk["span"] {
  const gone = head[5] === "0";
  const [from, many] = gone ? [Number(head[2]), Number(head[3] ?? 1)] : [Number(head[4]), Number(head[5] ?? 1)];
  return { from, to: from + Math.max(1, many) - 1 };
}

/** Reads the lines of one hunk, as many as its head says; answers the place of its last one. */
function read(
  lines: readonly string[],
  from: number,
  hunk: Hunk,
  [old, now]: [number, number],
  wanted: number,
): number {
  let at = from;
  for (let left = wanted; at < lines.length; at++) {
    const [sign = "", written] = [lines[at]?.[0], lines[at]?.slice(1) ?? ""];
    const cr = written.endsWith("\r");
    const said = { text: visible(cr ? written.slice(0, -1) : written), ...(cr && { cr }) };
    if (sign === "\\") {
      const last = hunk.lines.at(-1);
      if (last !== undefined) last.unended = true;
      continue;
    }
    if (left <= 0 || !" +-".includes(sign) || sign === "") break;
    if (sign === "+") hunk.lines.push({ kind: "added", old: null, now: now++, ...said });
    else if (sign === "-") hunk.lines.push({ kind: "removed", old: old++, now: null, ...said });
    else hunk.lines.push({ kind: "same", old: old++, now: now++, ...said });
    left -= sign === " " ? 2 : 1;
  }
  return at - 1;
}

export type Mode = { is: "executable" | "link" | "submodule" } | { from: string; to: string };

/** What git says of a file besides its lines: that it may be executed now, that it is a link. */
export function modeOf(piece: string): Mode | null {
  const head = piece.split("\n@@ ", 1)[0] ?? "";
  const [from, to] = [/^old mode (\d+)$/m.exec(head)?.[1], /^new mode (\d+)$/m.exec(head)?.[1]];
  if (from !== undefined && to !== undefined) return { from: from.slice(-3), to: to.slice(-3) };
  const is = KINDS[/^(?:new file mode|index [0-9a-f]+\.\.[0-9a-f]+) (\d+)$/m.exec(head)?.[1] ?? ""];
  return is === undefined || (is === "executable" && !head.includes("\nnew file mode ")) ? null : { is };
}

const KINDS: Record<string, "executable" | "link" | "submodule"> = {
  "100755": "executable",
  "120000": "link",
  "160000": "submodule",
};

/** Beside each other what was there and what is there now. */
export function sideBySide(lines: readonly Line[]): Row[] {
  const rows: Row[] = [];
  for (const [removed, added, same] of runs(lines)) {
    for (let place = 0; place < Math.max(removed.length, added.length); place++)
      rows.push({ left: removed[place] ?? null, right: added[place] ?? null });
    rows.push(...same.map((each) => ({ left: each, right: each })));
  }
  return rows;
}

/** Removed lines, those that came in their place, and the unchanged ones after them. */
function* runs(lines: readonly Line[]): Generator<[Line[], Line[], Line[]]> {
  for (let at = 0; at < lines.length;) {
    const take = (kind: Line["kind"]) => {
      const from = at;
      while (lines[at]?.kind === kind) at++;
      return lines.slice(from, at);
    };
    yield [take("removed"), take("added"), take("same")];
  }
}

/** Where as many lines came as went, each is compared with its own. */
function markDifferences(lines: readonly Line[]): void {
  for (const [removed, added] of runs(lines)) {
    if (removed.length !== added.length) continue;
    removed.forEach((old, place) => {
      const now = added[place];
      if (now !== undefined) compare(old, now);
    });
  }
}

function compare(old: Line, now: Line): void {
  const shorter = Math.min(old.text.length, now.text.length);
  let head = 0;
  while (head < shorter && old.text[head] === now.text[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.text.at(-1 - tail) === now.text.at(-1 - tail)) tail++;
  while (head > 0 && (splits(old.text, head) || splits(now.text, head))) head--;
  while (tail > 0 && (splits(old.text, old.text.length - tail) || splits(now.text, now.text.length - tail))) tail--;
  if (head + tail === 0) return; // nothing in common: the whole line is new
  old.differs = [head, old.text.length - tail];
  now.differs = [head, now.text.length - tail];
}

const IN_WORD = /^(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}])[\p{L}\p{M}\p{N}_]){2}$/u;

/** Whether a word, or one letter of two halves, goes on over this place: it is marked as a whole. */
function splits(text: string, at: number): boolean {
  const pair = text.slice(at - 1, at + 1);
  return IN_WORD.test(pair) || (pair.length === 2 && [...pair].length === 1);
}
