// Which instant the page shows: now, or one of the past that stands in the address. While one looks at the past nothing
// can be changed (`may.ts` asks here).
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";

import { say, useSearch } from "@/app/routing";

export interface Past {
  /** Null: now. */
  at: number | null;
  /** The address names an instant, and it is none. */
  wrong: boolean;
  /** Shows an instant, and writes it into the address; null leads back to now. */
  go: (at: number | null) => void;
  /** Shows an instant while it moves on: the address hears of it when it stands still. */
  pass: (at: number) => void;
}

const NOW: Past = { at: null, wrong: false, go: () => undefined, pass: () => undefined };
const Instant = createContext<Past>(NOW);
const Looking = createContext(false);

export const usePast = (): Past => useContext(Instant);

/** Whether one looks at the past; heard of once, not at every step. */
export const useLooksBack = (): boolean => useContext(Looking);

const VIEWS = /\/(board|graph|timeline)$/;

/** From one view of the past to another one keeps the instant. */
export const keptAt = (address: string, at: string | undefined): { at?: string } =>
  at !== undefined && VIEWS.test(address) ? { at } : {};

export function PastProvider({ children }: { children: ReactNode }) {
  const { at: said } = useSearch();
  const [moving, setMoving] = useState<{ at: number; said: string | undefined } | null>(null);
  const told = said === undefined ? null : Date.parse(said);
  const wrong = told !== null && Number.isNaN(told);
  const at = moving !== null && moving.said === said ? moving.at : wrong ? null : told;
  const go = useCallback(
    (next: number | null) => {
      setMoving(next === null ? null : { at: next, said }); // at once: the address follows, and keys do not wait for it
      // Back leads to now, whatever way one went through the past.
      say({ at: next === null ? undefined : new Date(next).toISOString() }, { replace: said !== undefined });
    },
    [said],
  );
  const pass = useCallback((next: number) => setMoving({ at: next, said }), [said]);
  const value = useMemo(() => ({ at, wrong, go, pass }), [at, wrong, go, pass]);
  return (
    <Looking value={at !== null}>
      <Instant value={value}>{children}</Instant>
    </Looking>
  );
}
