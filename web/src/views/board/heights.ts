// How high a card will be, guessed before it is drawn: a column whose guesses are right is drawn once per step of
// scrolling, where wrong ones move everything below. What a kind of card has measured is the guess for the next of it.
import type { BoardTask } from "@/api/model";

import { hasSigns } from "./face";

const PADDING_PX = 22;
const LINE_PX = 19.25;
const PART_PX = 22;
const BESIDE_TITLE_PX = 62;
const MOST_LINES = 2;

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
  const parts = [
    (card.assignee_id !== null || card.agent_type !== null || card.pool !== undefined) && "w",
    hasSigns(card) && "s",
    card.status === "blocked" && card.blocked_reason !== null && "b",
    card.running && "r",
    card.approval !== "approved" && "a",
    card.changes_requested !== null && "c",
  ].filter((each) => each !== false);
  return `${lines}${parts.join("")}`;
}

/** Before one of its kind was measured. */
export function firstGuess(kind: string): number {
  const below = kind.slice(1).replace("ws", "s").length; // who has it stands in the line of the signs
  return Math.round(PADDING_PX + Number(kind[0]) * LINE_PX + below * PART_PX);
}
