// The colours of code in a diff: what was there and what is there now are read as two texts, so that each line is seen
// with those around it.
import { useMemo } from "react";

import { useTokens } from "@/ui/code/highlighter";
import { languageOf } from "@/ui/code/languages";
import type { Token } from "@/ui/code/tokens";
import type { Line } from "@/views/review/patch";

export function useColours(lines: readonly Line[], path: string): (line: Line) => readonly Token[] | null {
  const language = languageOf(nameOf(path));
  const [old, now] = useMemo(
    () => [lines.filter((each) => each.old !== null), lines.filter((each) => each.now !== null)] as const,
    [lines],
  );
  const removes = old.some((each) => each.now === null);
  const oldTokens = useTokens(textOf(old), language, removes);
  const nowTokens = useTokens(textOf(now), language);
  return useMemo(() => {
    const known = new Map<Line, readonly Token[]>();
    old.forEach((line, place) => keep(known, line, oldTokens?.[place]));
    now.forEach((line, place) => keep(known, line, nowTokens?.[place]));
    return (line) => known.get(line) ?? null;
  }, [old, now, oldTokens, nowTokens]);
}

function keep(known: Map<Line, readonly Token[]>, line: Line, tokens: readonly Token[] | undefined): void {
  if (tokens !== undefined) known.set(line, tokens);
}

const textOf = (lines: readonly Line[]): string => lines.map((each) => each.text).join("\n");

/** What a block of code would be called: by the end of the name, or by a name that says it. */
function nameOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : name;
}

type Pieces = [before: readonly Token[], inside: readonly Token[], after: readonly Token[]];

/** A line in three parts: what stands before the letters that are marked, these, and what stands after them. */
export function cutAt(line: readonly Token[], [from, to]: readonly [number, number]): Pieces {
  if (to <= from) return [line, [], []];
  const parts: [Token[], Token[], Token[]] = [[], [], []];
  let at = 0;
  for (const [text, kind] of line) {
    const ends = [Math.min(Math.max(from - at, 0), text.length), Math.min(Math.max(to - at, 0), text.length)] as const;
    const pieces = [text.slice(0, ends[0]), text.slice(ends[0], ends[1]), text.slice(ends[1])] as const;
    pieces.forEach((piece, place) => piece !== "" && parts[place]?.push([piece, kind]));
    at += text.length;
  }
  return parts;
}
