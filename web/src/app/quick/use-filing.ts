// Filing one task for each line, in their order. What is refused stays, with the reason; what is filed is gone from it.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { fileTask, type NewTask } from "@/api/actions";
import { Refused } from "@/api/client";
import { PRIORITIES } from "@/api/filter";
import type { Task } from "@/api/model";
import { board } from "@/api/queries";

import type { Parsed } from "./line";

export interface Filed {
  tasks: Task[];
  /** How many lines were filed: the rest stays. */
  lines: number;
  /** Why the next one was not. */
  refused: unknown;
  /** Why one of several was filed, and not started. */
  notStarted: unknown;
}

export function useFiling(projectId: string) {
  const client = useQueryClient();
  const [key, setKey] = useState(() => crypto.randomUUID());

  /** What is the same for all lines, where a line says nothing else. */
  return async (lines: readonly Parsed[], rest: Omit<NewTask, "title">): Promise<Filed> => {
    const filed: Filed = { tasks: [], lines: 0, refused: null, notStarted: null };
    try {
      for (const [place, line] of lines.entries()) {
        const wanted = taskOf(line, rest);
        try {
          filed.tasks.push((await fileTask(projectId, wanted, `${key}-${place}-${wanted.status}`)).task);
        } catch (error) {
          if (lines.length === 1 || wanted.status !== "in_progress" || !(error instanceof Refused)) throw error;
          const later = { ...wanted, status: "todo" as const };
          filed.tasks.push((await fileTask(projectId, later, `${key}-${place}-todo`)).task);
          filed.notStarted ??= error; // one agent works on one task at a time: the others wait for it
        }
        filed.lines++;
      }
    } catch (error) {
      filed.refused = error;
    }
    if (filed.lines > 0) {
      setKey(crypto.randomUUID());
      void client.invalidateQueries({ queryKey: board(projectId).queryKey });
    }
    return filed;
  };
}

function taskOf({ title, chips }: Parsed, rest: Omit<NewTask, "title">): NewTask {
  const of = (kind: string) => chips.filter((each) => each.kind === kind).map((each) => each.id);
  const [who] = of("who");
  const [said] = of("rank");
  const rank = PRIORITIES.find((each) => each === said);
  const [under] = of("under");
  const after = of("after");
  return {
    ...rest,
    title,
    ...(who === undefined ? {} : { assignee_id: who }),
    ...(rank === undefined ? {} : { priority: rank }),
    ...(under === undefined ? {} : { parent_task_id: under }),
    ...(after.length === 0 ? {} : { dependencies: after }),
  };
}
