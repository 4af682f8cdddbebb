// Paper shows everything: a list that draws only what is in view draws all of it while the page is printed.
import { useSyncExternalStore } from "react";

let printing = false;

function subscribe(changed: () => void): () => void {
  const become = (now: boolean) => () => {
    printing = now;
    changed();
  };
  const [before, after] = [become(true), become(false)];
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
  };
}

const EVERYTHING = 100_000;

/** How many rows beyond what is seen a list draws. */
export function useOverscan(usual: number): number {
  return useSyncExternalStore(subscribe, () => printing) ? EVERYTHING : usual;
}
