// How high a card will be, guessed before it is drawn: a column whose guesses are right is drawn once per step of
// scrolling, where wrong ones move everything below. What a kind of card has measured is the guess for the next of it.
import type { BoardTask } from "@/api/model";

const PADDING_PX = 22;
const LINE_PX = 19.25;
const PART_PX = 26;
const BESIDE_TITLE_PX = 89;
const MOST_LINES = 3;

const WIDE = /[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60\ud800-\udfff]/;
const NARROW = /[ijltfrI1.,:;'|()[\] -]/;
const widths = new Map<string, number>();

/** About as wide as it is in the page's font. */
function textWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  let sum = 0;
  for (const letter of text)
    sum += WIDE.test(letter) ? 14 : NARROW.test(letter) ? 4.3 : /[A-Z]/.test(letter) ? 9.4 : 7.5;
  if (widths.size > 20_000) widths.clear();
  widths.set(text, sum);
  return sum;
}

/** Cards of one kind have the same height: this many lines, plus these parts. */
export function kindOf(card: BoardTask, columnPx: number): string {
  const lines = Math.min(MOST_LINES, Math.ceil(textWidth(card.title) / Math.max(60, columnPx - BESIDE_TITLE_PX)) || 1);
  const blocked = card.status === "blocked" && card.blocked_reason !== null;
  const reason = blocked
    ? Math.min(2, Math.ceil(textWidth(card.blocked_reason ?? "") / Math.max(60, columnPx - 50)))
    : 0;
  const signs = card.running || card.children > 0 || card.dependencies.length > 0 || card.attempt > 1;
  return `${lines}${reason}${signs ? "s" : ""}${card.approval === "approved" ? "" : "a"}`;
}

/** Before one of its kind was measured. */
export function firstGuess(kind: string): number {
  const [lines = 1, reason = 0] = [...kind].map(Number);
  return Math.round(PADDING_PX + lines * LINE_PX + reason * PART_PX * 0.8 + (kind.length - 2) * PART_PX);
}
