// The task that the cursor of a view stands on: the palette offers its acts first.
import { useEffect, useSyncExternalStore } from "react";

let chosen: string | null = null;
const listeners = new Set<() => void>();

function put(taskId: string | null): void {
  if (taskId === chosen) return;
  chosen = taskId;
  for (const each of listeners) each();
}

/** While the view is shown. */
export function useChoosing(taskId: string | null): void {
  useEffect(() => {
    put(taskId);
    return () => put(null);
  }, [taskId]);
}

export function useChosenTask(): string | null {
  return useSyncExternalStore(
    (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    () => chosen,
  );
}
