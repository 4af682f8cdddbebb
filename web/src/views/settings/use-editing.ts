// The state of one form over something that has a version: draft, saving, refusals, conflicts.
import { useState } from "react";

import { Refused } from "@/api/client";
import { NotDone } from "@/app/widening";
import { useDraft, type Draft } from "@/drafts";
import { changed, contested, rebased, type Fields } from "@/views/settings/editing";

export interface Seen {
  fields: Fields;
  version: number;
}

export interface Editing {
  draft: Fields;
  set: (name: string) => (value: string) => void;
  dirty: boolean;
  saving: boolean;
  error: unknown;
  /** After a conflict: what others have set for fields that were changed here, too. Null: no conflict. */
  theirs: Fields | null;
  save: () => Promise<boolean>;
  kept: Draft<Working>;
}

/** What one saw when one began to change it, and what one has made of it. */
interface Working {
  seen: Seen;
  draft: Fields;
}

/** `look` reads what is there now, `store` sends changes on top of a version and answers with what stands then. */
export function useEditing(
  place: string,
  start: Seen,
  look: () => Promise<Seen>,
  store: (changes: Fields, version: number, all: Fields) => Promise<Seen>,
): Editing {
  const [{ seen, draft }, write, kept] = useDraft<Working>(place, { seen: start, draft: start.fields });
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [theirs, setTheirs] = useState<Fields | null>(null);

  async function goOnFromNow() {
    const now = await look();
    const names = contested(seen.fields, draft, now.fields);
    setTheirs(Object.fromEntries(names.map((name) => [name, now.fields[name] ?? ""])));
    write({ seen: now, draft: rebased(seen.fields, draft, now.fields) });
  }
  async function save(): Promise<boolean> {
    setSaving(true);
    setError(null);
    setTheirs(null);
    try {
      const now = await store(changed(seen.fields, draft), seen.version, draft);
      write({ seen: now, draft: now.fields });
      kept.done();
      return true;
    } catch (refused) {
      if (refused instanceof NotDone) return false;
      setError(refused);
      if (isConflict(refused)) await goOnFromNow().catch(() => undefined); // the refusal is shown anyway
      return false;
    } finally {
      setSaving(false);
    }
  }
  return {
    draft,
    set: (name) => (value) => write((known) => ({ ...known, draft: { ...known.draft, [name]: value } })),
    dirty: Object.keys(changed(seen.fields, draft)).length > 0,
    saving,
    error,
    theirs,
    save,
    kept,
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof Refused && error.problem.code === "conflict" && typeof error.problem["version"] === "number";
}
