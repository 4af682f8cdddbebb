// What the token at the cursor may become, and the text with it in its place. Pure.
import { candidates, written, type Kind, type Known } from "./line";
import { folded } from "./nearest";

export interface Active {
  kind: Kind;
  said: string;
  from: number;
  to: number;
}

const MOST = 6;
const SIGNED = /(?:^|\s)([@＠!！#＃])(?:["“「]([^"”」\n]*)|([\p{L}\p{N}_]\S*|))$/u;
const AFTER = /(?:^|\s)(after\s*)["“「]([^"”」\n]*)$/iu;
const KINDS: Record<string, Kind> = { "@": "who", "＠": "who", "!": "rank", "！": "rank", "#": "under", "＃": "under" };

/** The token that the cursor stands at the end of. */
export function activeAt(text: string, cursor: number): Active | null {
  const line = text.slice(text.lastIndexOf("\n", cursor - 1) + 1, cursor);
  const after = AFTER.exec(line);
  const signed = SIGNED.exec(line);
  const found = after ?? signed;
  if (found === null) return null;
  const length = found[0].trimStart().length;
  const kind = after === null ? KINDS[found[1] ?? ""] : "after";
  return kind === undefined ? null : { kind, said: found[2] ?? found[3] ?? "", from: cursor - length, to: cursor };
}

export interface Suggestion {
  id: string;
  label: string;
}

/** What begins with what was typed, then what contains it. What is written out already is not suggested. */
export function suggestions(active: Active | null, known: Known): Suggestion[] {
  if (active === null) return [];
  const said = folded(active.said);
  const all = candidates(active.kind, known);
  const begins = all.filter((each) => each.names.some((name) => name.startsWith(said)));
  const contains = all.filter((each) => !begins.includes(each) && each.names.some((name) => name.includes(said)));
  return [...begins, ...contains].slice(0, MOST).map(({ id, label }) => ({ id, label }));
}

/** The text with a suggestion in the place of the token, and where the cursor then stands. */
export function accepted(text: string, active: Active, label: string): { text: string; cursor: number } {
  const rest = text.slice(active.to);
  const begun = `${text.slice(0, active.from)}${written(active.kind, label)}`;
  const gap = rest.startsWith(" ") ? "" : " ";
  return { text: `${begun}${gap}${rest.replace(/^["”」]/, "")}`, cursor: begun.length + 1 };
}
