// Whether the window is as narrow as a phone, or wide enough for two things beside each other: where a view has to be
// another one, not only a smaller one.
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 640px)";
const EXTRA_WIDE = "(min-width: 1280px)";
const WIDE = "(min-width: 1024px)";

export const useNarrow = (): boolean => useMedia(NARROW);

/** Wide enough for a third thing beside. */
export const useExtraWide = (): boolean => useMedia(EXTRA_WIDE);

export const useWide = (): boolean => useMedia(WIDE);

function useMedia(asked: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = window.matchMedia?.(asked);
      query?.addEventListener("change", changed);
      return () => query?.removeEventListener("change", changed);
    },
    () => window.matchMedia?.(asked).matches ?? false,
  );
}
