// Whether the window is as narrow as a phone: where a view has to be another one, not only a smaller one.
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 640px)";

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = window.matchMedia?.(NARROW);
      query?.addEventListener("change", changed);
      return () => query?.removeEventListener("change", changed);
    },
    () => window.matchMedia?.(NARROW).matches ?? false,
  );
}
