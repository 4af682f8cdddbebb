// One act on many tasks: each by itself, so that a refusal stops none of the others and is told with its reason.
import type { BoardTask, Task } from "@/api/model";

export interface Refusal {
  task: BoardTask;
  error: unknown;
}

export interface Outcome {
  /** As they were before. */
  done: BoardTask[];
  /** What they are now, in the order of `done`. */
  now: Task[];
  refused: Refusal[];
}

/** Maximum number of parallel requests: the server commits waiting writes together, a browser opens six connections. */
const AT_ONCE = 5;

export async function onEach(
  tasks: readonly BoardTask[],
  act: (task: BoardTask) => Promise<Task>,
  told: (finished: number) => void = () => undefined,
): Promise<Outcome> {
  const outcome: Outcome = { done: [], now: [], refused: [] };
  const waiting = tasks.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const task of waiting) {
        try {
          const now = await act(task);
          outcome.done.push(task);
          outcome.now.push(now);
        } catch (error) {
          outcome.refused.push({ task, error });
        }
        told(outcome.done.length + outcome.refused.length);
      }
    }),
  );
  return outcome;
}
