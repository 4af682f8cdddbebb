// Doing what a dialog asks for: it waits for the answer, closes when it is done, and where it is refused stays open with
// the reason, so that nothing that was typed is lost. Who takes care of a refusal elsewhere does not throw.
import { useState } from "react";

export interface Trying {
  busy: boolean;
  /** Why it was refused; null: it was not. */
  refused: unknown;
  attempt: (act: () => unknown) => Promise<void>;
}

export function useTrying(done: () => void): Trying {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  async function attempt(act: () => unknown) {
    setBusy(true);
    setRefused(null);
    try {
      await act();
      done();
    } catch (error) {
      setRefused(error);
    } finally {
      setBusy(false);
    }
  }
  return { busy, refused, attempt };
}
