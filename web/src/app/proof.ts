// Whether the person is asked to prove again who they are, and what waits for it. The dialog is in views/signin.
import { useSyncExternalStore } from "react";

import { onProof } from "@/api/client";

type Done = (proved: boolean) => void;

let asked: { done: Done; answer: Promise<boolean> } | null = null;
const watching = new Set<() => void>();

function become(next: typeof asked): void {
  asked = next;
  for (const each of watching) each();
}

/** Several requests that need it wait for one answer. */
onProof(() => {
  if (asked !== null) return asked.answer;
  let resolve: Done = () => undefined;
  const answer = new Promise<boolean>((resolved) => (resolve = resolved));
  const done: Done = (proved) => {
    become(null);
    resolve(proved);
  };
  become({ done, answer });
  return answer;
});

export function useProof(): Done | undefined {
  return useSyncExternalStore(
    (changed) => {
      watching.add(changed);
      return () => watching.delete(changed);
    },
    () => asked?.done,
  );
}
