// A task as one line: `Fix rounding @taro !high after "Show prices" #checkout`. What begins with a sign, or follows
// `after`, is looked up among what is known; the rest is the title. Pure, and tested as such.
import { isClosed, type Priority, type TaskStatus } from "@/api/model";

import { folded, nearest } from "./nearest";

export interface Known {
  agents: readonly { id: string; name: string }[];
  tasks: readonly { id: string; title: string; status: TaskStatus; created_at: string }[];
  /** Each with the words that it goes by. */
  priorities: readonly { id: Priority; names: readonly string[] }[];
}

/** Who does it, how urgent it is, what it waits for, what it is a part of. */
export type Kind = "who" | "rank" | "after" | "under";

export interface Token {
  kind: Kind;
  /** As it was written. */
  said: string;
  from: number;
  to: number;
}

export interface Chip extends Token {
  id: string;
  label: string;
}

/** What was written and is not there; `meant` is the nearest that is. */
export interface Mistake extends Token {
  meant: string | null;
}

export interface Parsed {
  title: string;
  chips: Chip[];
  mistakes: Mistake[];
}

const SIGNS: Record<string, Kind> = { "@": "who", "＠": "who", "!": "rank", "！": "rank", "#": "under", "＃": "under" };
const QUOTED = `"([^"]*)"?|“([^”]*)”?|「([^」]*)」?`;
const TOKEN = new RegExp(
  `(?<=^|\\s)(?:([@＠!！#＃])(?:${QUOTED}|([\\p{L}\\p{N}_]\\S*))|after\\s*(?:${QUOTED}))`,
  "giu",
);
/** Ends a sentence, not a name. */
const ENDING = /[.,;:!?、。，；：！？]+$/u;
/** A sign that is meant as it stands. */
const PLAIN = /(^|\s)\\(?=[@＠!！#＃])/gu;

const BULLET = /^\s*[-*•]\s+(?:\[[ xX]?\]\s+)?/u;

/** Each line is a task: a list that was pasted has no bullets then. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((each) => each.replace(BULLET, "").trim())
    .filter((each) => each !== "");
}

export function tokens(line: string): Token[] {
  return [...line.matchAll(TOKEN)].map((found) => {
    const words = found.slice(2).find((each) => each !== undefined) ?? "";
    const kind = SIGNS[found[1] ?? ""] ?? "after";
    return { kind, said: words, from: found.index, to: found.index + found[0].length };
  });
}

export function parsed(line: string, known: Known): Parsed {
  const chips: Chip[] = [];
  const mistakes: Mistake[] = [];
  for (const token of tokens(line)) {
    const found = lookedUp(token, known);
    if (found !== undefined) chips.push({ ...token, ...found });
    else if (!/^\d+$/.test(token.said)) mistakes.push({ ...token, meant: meantBy(token, known) }); // `#12` is a word
  }
  return { title: titleOf(line, [...chips, ...mistakes]), chips: lastOfEach(chips), mistakes };
}

function titleOf(line: string, parts: readonly Token[]): string {
  return cut(line, parts).replace(PLAIN, "$1");
}

function cut(line: string, parts: readonly Token[]): string {
  let rest = line;
  for (const { from, to } of parts.toSorted((one, other) => other.from - one.from))
    rest = `${rest.slice(0, from)} ${rest.slice(to)}`;
  return rest.replace(/\s+/g, " ").trim();
}

/** A task has one assignee, one priority, one parent: what was written last. It may wait for many. */
function lastOfEach(chips: readonly Chip[]): Chip[] {
  return chips.filter(({ kind, id }, place) => {
    const later = chips.slice(place + 1);
    return !later.some((each) => each.kind === kind && (kind !== "after" || each.id === id));
  });
}

interface Found {
  id: string;
  label: string;
}

function lookedUp({ kind, said }: Token, known: Known): Found | undefined {
  const all = candidates(kind, known);
  const exact = (words: string) => all.find((each) => each.names.some((name) => name === words));
  return exact(folded(said)) ?? exact(folded(said.replace(ENDING, "")));
}

function meantBy({ kind, said }: Token, known: Known): string | null {
  const all = candidates(kind, known);
  return nearest(
    said,
    all.map((each) => each.label),
  );
}

/** What a kind of token may name; `names` as `folded` writes them. Of tasks the open ones, then the newest, first. */
export function candidates(kind: Kind, known: Known): (Found & { names: string[] })[] {
  if (kind === "who")
    return known.agents.map(({ id, name }) => {
      const [first = ""] = name.split(/\s/);
      const alone = known.agents.filter((each) => each.name.split(/\s/)[0] === first).length === 1;
      return { id, label: name, names: [id, name, name.replace(/\s+/g, ""), ...(alone ? [first] : [])].map(folded) };
    });
  if (kind === "rank")
    return known.priorities.map(({ id, names }) => ({ id, label: names[0] ?? id, names: [id, ...names].map(folded) }));
  const rank = (task: Known["tasks"][number]) => (isClosed(task) ? 1 : 0);
  return known.tasks
    .toSorted((one, other) => rank(one) - rank(other) || other.created_at.localeCompare(one.created_at))
    .map(({ id, title }) => ({ id, label: title, names: [id, title, title.replace(/\s+/g, "-")].map(folded) }));
}

/** How a choice is written, so that it is read again as the same. */
export function written(kind: Kind, label: string): string {
  const plain = label.replace(/["“”「」]/g, "");
  const said = kind === "after" || /[^\p{L}\p{N}_-]/u.test(plain) ? `"${plain}"` : plain;
  return { who: "@", rank: "!", under: "#", after: "after " }[kind] + said;
}

/** The line without its tokens of one kind: what they say is chosen elsewhere. */
export function without(line: string, kind: Kind): string {
  return cut(
    line,
    tokens(line).filter((each) => each.kind === kind),
  );
}
