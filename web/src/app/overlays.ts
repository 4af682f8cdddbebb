// What the frame lays over every view, one at a time: the palette, the keys, a new task.
import { useSyncExternalStore } from "react";

export interface NewTaskFor {
  projectId?: string;
  parentId?: string;
  status?: "backlog" | "todo" | "in_progress";
}

export type Overlay =
  | { kind: "palette" }
  | { kind: "keys" }
  | { kind: "new-task"; wanted: NewTaskFor }
  | { kind: "new-agent"; projectId?: string };

let shown: Overlay | null = null;
const listeners = new Set<() => void>();

export function show(next: Overlay | null): void {
  shown = next;
  for (const each of listeners) each();
}

export function newTask(wanted: NewTaskFor = {}): void {
  show({ kind: "new-task", wanted });
}

export function newAgent(projectId?: string): void {
  show({ kind: "new-agent", ...(projectId === undefined ? {} : { projectId }) });
}

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(
    (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    () => shown,
  );
}
