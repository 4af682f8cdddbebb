// Comments that are not sent yet: kept by the browser until they are, and made into one message.
import { useMemo } from "react";

import { useDraft } from "@/drafts";

export interface Comment {
  path: string;
  side: "old" | "now";
  /** The last line it is about; below it the comment stands. */
  line: number;
  /** The first one, where it is about several. */
  from?: number;
  /** The lines it is about, as they stand there. */
  quote: string;
  text: string;
}

const NONE: readonly Comment[] = [];
export const MOST_LETTERS = 10_000;
const LONGEST_QUOTE = 160;
const MOST_QUOTED = 12;

export const keyOf = (each: Pick<Comment, "path" | "side" | "line">) => `${each.side}:${each.line}:${each.path}`;

export interface Comments {
  all: readonly Comment[];
  put: (comment: Comment) => void;
  drop: (comment: Comment) => void;
  clear: () => void;
  /** Where what is being written is kept. */
  place: string;
}

export function useComments(taskId: string): Comments {
  const place = `comments.${taskId}`;
  const [all, change] = useDraft<readonly Comment[]>(place, NONE, { quiet: true });
  return useMemo(
    () => ({
      all,
      place,
      put: (one) => change((known) => inOrder([...known.filter((each) => keyOf(each) !== keyOf(one)), one])),
      drop: (one) => change((known) => known.filter((each) => keyOf(each) !== keyOf(one))),
      clear: () => change(NONE),
    }),
    [all, change, place],
  );
}

function inOrder(all: readonly Comment[]): Comment[] {
  return all.toSorted((one, other) => one.path.localeCompare(other.path) || one.line - other.line);
}

/** What the agent is told: all of it at once. `place` says where a comment belongs. */
export function asMessage(said: string, all: readonly Comment[], place: (each: Comment) => string): string {
  const parts = all.map((each) => `${place(each)}\n${quoted(each.quote)}\n${each.text}`);
  return [said.trim(), ...parts].filter((each) => each !== "").join("\n\n");
}

/** One line without its indent; of several the first ones, as they stand there. */
function quoted(quote: string): string {
  const lines = quote.includes("\n") ? quote.split("\n") : [quote.trim()];
  const shown = lines.slice(0, MOST_QUOTED).map((each) => `> ${each.slice(0, LONGEST_QUOTE)}`.trimEnd());
  return [...shown, ...(lines.length > MOST_QUOTED ? ["> …"] : [])].join("\n");
}
