// A value of a form that outlives the form: closing it, a reload or a sign-out elsewhere loses nothing. After a success
// the form calls `done`.
import { createContext, useContext, useEffect, useRef, useState, type ReactNode } from "react";

import { forget, keep, kept, tidy } from "@/drafts/store";
import { useTranslation } from "@/i18n/use-words";
import { ToastContext } from "@/ui/toast";

const Who = createContext<string | null>(null);

/** Everything below is written by this person; what others have written is neither shown nor overwritten. */
export function DraftsOf({ person, children }: { person: string; children: ReactNode }) {
  useEffect(tidy, [person]);
  return <Who value={person}>{children}</Who>;
}

export function useWriter(): string | null {
  return useContext(Who);
}

export interface Draft<T> {
  /** What one sees was written earlier. */
  restored: boolean;
  /** It was carried out: the draft is gone. */
  done: () => void;
  /** Begins again with nothing. */
  discard: () => void;
  field: <Name extends keyof T>(name: Name) => (value: T[Name]) => void;
}

type Write<T> = (next: T | ((known: T) => T)) => void;

/** As `useState`, and kept under `place`. `quiet`: closing does not say that it is kept, for one sees that at once. */
export function useDraft<T>(place: string, start: T, { quiet = false } = {}): [T, Write<T>, Draft<T>] {
  const who = useWriter();
  const [begin] = useState(start);
  const [found] = useState(() => (who === null ? undefined : (kept(who, place) as T | undefined)));
  const [restored, setRestored] = useState(found !== undefined);
  const [value, setValue] = useState<T>(found === undefined ? start : withAll(start, found));
  const now = useRef(value);
  const dirty = useRef(found !== undefined);
  useSaying(dirty, quiet || who === null);

  function write(next: T | ((known: T) => T)): void {
    now.current = typeof next === "function" ? (next as (known: T) => T)(now.current) : next;
    setValue(now.current);
    dirty.current = JSON.stringify(now.current) !== JSON.stringify(begin);
    if (who === null) return;
    if (!dirty.current) forget(who, place);
    else if (!keep(who, place, now.current)) dirty.current = false; // not kept, so nothing says that it is
  }
  function done(): void {
    dirty.current = false;
    if (who !== null) forget(who, place);
  }
  const draft: Draft<T> = {
    restored,
    done,
    discard: () => {
      done();
      now.current = begin;
      setValue(begin);
      setRestored(false);
    },
    field: (name) => (given) => write((known) => ({ ...known, [name]: given })),
  };
  return [value, write, draft];
}

/** A form may have got more fields since the draft was kept. */
function withAll<T>(start: T, found: T): T {
  const plain = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);
  return plain(start) && plain(found) ? { ...start, ...found } : found;
}

function useSaying(dirty: { current: boolean }, quiet: boolean): void {
  const { t } = useTranslation();
  const toast = useContext(ToastContext);
  const say = useRef<(() => void) | null>(null);
  useEffect(() => {
    say.current = () => {
      if (dirty.current && !quiet) toast?.done(t("draft.kept"));
    };
  });
  useEffect(() => () => say.current?.(), []);
}
