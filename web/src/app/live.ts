// What views know of the stream of events: whether it is there, and each event. What the page does with it is in
// stream.ts, which comes after the first paint.
import { useEffect, useSyncExternalStore } from "react";

import { useSilence } from "@/api/client";
import type { Event } from "@/api/model";
import type { OneStream, Liveness as Streaming } from "@/app/one-stream";

/** `silent`: the stream may be there, but a request waits for its answer for too long. */
export type Liveness = Streaming | "silent";

let state: Streaming = "connecting";
let running: Pick<OneStream, "looked"> | null = null;
const listeners = new Set<() => void>();
export const hearers = new Set<(event: Event) => void>();
export const watched = new Map<string, number>();

/** The stream of this page; null: it has ended. */
export function runs(stream: Pick<OneStream, "looked"> | null): void {
  running = stream;
}

export function become(next: Streaming): void {
  if (next === state) return;
  state = next;
  for (const each of listeners) each();
}

export function useLiveness(): Liveness {
  const silent = useSilence();
  const streaming = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => state,
  );
  return streaming === "live" && silent ? "silent" : streaming;
}

/** Hears every event while the component is there, in whichever tab the stream is. A tab out of view hears them as long
 * as another one is seen, or for good where something is watched (`useWatched`). */
export function useEvents(hear: (event: Event) => void): void {
  useEffect(() => {
    hearers.add(hear);
    return () => {
      hearers.delete(hear);
    };
  }, [hear]);
}

/** Keeps the stream while nobody looks, and what begins with this key fresh: for what calls a person who looks
 * elsewhere. Everything else is read again when somebody looks. */
export function useWatched(queryKey: readonly unknown[], on = true): void {
  const name = JSON.stringify(queryKey);
  useEffect(() => {
    if (!on) return;
    watched.set(name, (watched.get(name) ?? 0) + 1);
    running?.looked();
    return () => {
      const left = (watched.get(name) ?? 1) - 1;
      if (left > 0) watched.set(name, left);
      else watched.delete(name);
      running?.looked();
    };
  }, [name, on]);
}
