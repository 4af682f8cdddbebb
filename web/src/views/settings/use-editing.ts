// The state of one form over something that has a version: draft, saving, refusals, conflicts.
import { useState } from "react";

import { Refused } from "@/api/client";
import { NotDone } from "@/app/widening";
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
}

/** `look` reads what is there now, `store` sends changes on top of a version and answers with what stands then. */
export function useEditing(
  start: Seen,
  look: () => Promise<Seen>,
  store: (changes: Fields, version: number, all: Fields) => Promise<Seen>,
): Editing {
  const [seen, setSeen] = useState(start);
  const [draft, setDraft] = useState(start.fields);
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [theirs, setTheirs] = useState<Fields | null>(null);

  async function goOnFromNow() {
    const now = await look();
    const names = contested(seen.fields, draft, now.fields);
    setTheirs(Object.fromEntries(names.map((name) => [name, now.fields[name] ?? ""])));
    setDraft(rebased(seen.fields, draft, now.fields));
    setSeen(now);
  }
  async function save(): Promise<boolean> {
    setSaving(true);
    setError(null);
    setTheirs(null);
    try {
      const now = await store(changed(seen.fields, draft), seen.version, draft);
      setSeen(now);
      setDraft(now.fields);
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
    set: (name) => (value) => setDraft((known) => ({ ...known, [name]: value })),
    dirty: Object.keys(changed(seen.fields, draft)).length > 0,
    saving,
    error,
    theirs,
    save,
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof Refused && error.problem.code === "conflict" && typeof error.problem["version"] === "number";
}
