// Comments that are not sent yet: kept by the browser until they are, and made into one message.
import { useCallback, useMemo, useState } from "react";

export interface Comment {
  path: string;
  side: "old" | "now";
  line: number;
  /** The line it is about, as it stands there. */
  quote: string;
  text: string;
}

export const MOST_LETTERS = 10_000;
const LONGEST_QUOTE = 160;

export const keyOf = (each: Omit<Comment, "text" | "quote">) => `${each.side}:${each.line}:${each.path}`;

export interface Comments {
  all: readonly Comment[];
  put: (comment: Comment) => void;
  drop: (comment: Comment) => void;
  clear: () => void;
}

export function useComments(taskId: string): Comments {
  const kept = `toryo.review.${taskId}`;
  const [all, setAll] = useState(() => read(kept));
  const change = useCallback(
    (how: (known: readonly Comment[]) => readonly Comment[]) =>
      setAll((known) => {
        const next = how(known);
        if (next.length === 0) localStorage.removeItem(kept);
        else localStorage.setItem(kept, JSON.stringify(next));
        return next;
      }),
    [kept],
  );
  return useMemo(
    () => ({
      all,
      put: (one) => change((known) => inOrder([...known.filter((each) => keyOf(each) !== keyOf(one)), one])),
      drop: (one) => change((known) => known.filter((each) => keyOf(each) !== keyOf(one))),
      clear: () => change(() => []),
    }),
    [all, change],
  );
}

function read(kept: string): readonly Comment[] {
  try {
    return JSON.parse(localStorage.getItem(kept) ?? "[]") as Comment[];
  } catch {
    return [];
  }
}

function inOrder(all: readonly Comment[]): Comment[] {
  return all.toSorted((one, other) => one.path.localeCompare(other.path) || one.line - other.line);
}

/** What the agent is told: all of it at once. `place` says where a comment belongs. */
export function asMessage(said: string, all: readonly Comment[], place: (each: Comment) => string): string {
  const parts = all.map((each) => `${place(each)}\n> ${each.quote.trim().slice(0, LONGEST_QUOTE)}\n${each.text}`);
  return [said.trim(), ...parts].filter((each) => each !== "").join("\n\n");
}
