// Why tasks were refused, by reason: what the server says of each differs in the task that it names, and in nothing else.
import type { BoardTask } from "@/api/model";
import { wordsOf } from "@/ui";

import type { Refusal } from "./on-each";

export interface Reason {
  what: string;
  next: string;
  tasks: BoardTask[];
}

/** The reason of the most tasks first. `away`: what is said where the server did not answer. */
export function byReason(refused: readonly Refusal[], away: string): Reason[] {
  const found = new Map<string, Reason>();
  for (const { task, error } of refused) {
    const said = wordsOf(error, away);
    const [what, next] = [without(said.what, task), without(said.next, task)];
    const key = `${what}\n${next}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { what, next, tasks: [task] });
    else known.tasks.push(task);
  }
  for (const each of found.values()) {
    if (each.tasks.length > 1) continue;
    const [only] = each.tasks;
    const error = refused.find(({ task }) => task === only)?.error;
    Object.assign(each, wordsOf(error, away)); // of one task everything may be said
  }
  return [...found.values()].toSorted((one, other) => other.tasks.length - one.tasks.length);
}

/** The task is named beside the reason, by its title. */
function without(words: string, task: BoardTask): string {
  return words.replaceAll(task.task_id, "…").replaceAll(task.title, "…");
}
