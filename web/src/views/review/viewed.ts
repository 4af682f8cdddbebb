// Which files one has viewed: kept in this browser, for the diff that was viewed. When the diff of a file changes, its
// tick goes.
import { useCallback, useMemo, useState } from "react";

import type { FileChange } from "@/api/model";

const KEPT = "toryo.review.viewed";
/** The ticks of the newest 100 tasks are kept. */
const MOST_TASKS = 100;

type Ticks = Record<string, string>;

/** Short, and different for different diffs. */
export function printOf(piece: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < piece.length; at++) {
    const letter = piece.charCodeAt(at);
    one = Math.imul(one ^ letter, 2654435761);
    other = Math.imul(other ^ letter, 1597334677);
  }
  return `${piece.length}.${(one >>> 0).toString(36)}${(other >>> 0).toString(36)}`;
}

/** What was changed, whatever stands around it: the same with more context. */
function changedIn(piece: string): string {
  if (!piece.includes("\n@@ ")) return piece; // a binary file, a mode
  return piece
    .split("\n")
    .filter((line) => "+-on".includes(line[0] ?? " ")) // and `old mode`, `new mode`
    .join("\n");
}

function all(): Record<string, Ticks> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Record<string, Ticks>;
  } catch {
    return {};
  }
}

function keep(taskId: string, ticks: Ticks): void {
  const others = Object.entries(all()).filter(([each]) => each !== taskId);
  const entries = [...others, [taskId, ticks] as const].slice(-MOST_TASKS);
  try {
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(entries)));
  } catch {
    // no room: the ticks hold as long as the page is open
  }
}

export interface Viewed {
  has: (path: string) => boolean;
  put: (path: string, is: boolean) => void;
  count: number;
}

export function useViewed(
  taskId: string,
  files: readonly FileChange[],
  pieces: readonly (string | undefined)[],
): Viewed {
  const [ticks, setTicks] = useState<Ticks>(() => all()[taskId] ?? {});
  const prints = useMemo(
    () => new Map(files.map((each, place) => [each.path, printOf(`${each.status} ${changedIn(pieces[place] ?? "")}`)])),
    [files, pieces],
  );
  const put = useCallback(
    (path: string, is: boolean) => {
      const others = Object.fromEntries(Object.entries(ticks).filter(([each]) => each !== path));
      const next = is ? { ...others, [path]: prints.get(path) ?? "" } : others;
      setTicks(next);
      keep(taskId, next);
    },
    [ticks, taskId, prints],
  );
  const has = (path: string) => ticks[path] !== undefined && ticks[path] === prints.get(path);
  return { has, put, count: files.filter((each) => has(each.path)).length };
}
