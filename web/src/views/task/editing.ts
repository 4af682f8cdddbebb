// Changing a field where it stands. It is sent with the version one has read; where somebody else changed the same
// field meanwhile both texts are shown, and nothing is lost. A change elsewhere in the task is no conflict.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { editTask, type TaskEdit } from "@/api/actions";
import { Refused, api } from "@/api/client";
import type { Task } from "@/api/model";
import { task as taskQuery } from "@/api/queries";
import { ofTask } from "@/api/routes";
import { useDraft } from "@/drafts";

export type Field = "title" | "description" | "priority" | "assignee_id";

/** Two texts for one field. */
export interface Conflict {
  theirs: string;
  mine: string;
  version: number;
}

export class Conflicting extends Error {
  constructor(readonly conflict: Conflict) {
    super("conflict");
  }
}

const TRIES = 3;

/** Saves one field. Raises Conflicting where the same field was changed since `base`, Refused where it may not be. */
export async function saveField(base: Task, field: Field, value: string | null): Promise<Task> {
  let version = base.version;
  for (let tries = 1; ; tries++) {
    try {
      return (await editTask(base.task_id, { [field satisfies keyof TaskEdit]: value } as TaskEdit, version)).task;
    } catch (error) {
      if (!(error instanceof Refused) || error.problem.code !== "conflict" || tries === TRIES) throw error;
      const now = (await api.get("/tasks/{task_id}", ofTask(base.task_id))).task;
      if (now[field] !== base[field])
        throw new Conflicting({ theirs: now[field] ?? "", mine: value ?? "", version: now.version });
      version = now.version;
    }
  }
}

export interface Editing {
  draft: string | null;
  /** What was begun and is not saved: it can be gone on with. What the task says already is saved. */
  unsaved: boolean;
  conflict: Conflict | null;
  refused: unknown;
  busy: boolean;
  begin: () => void;
  change: (draft: string) => void;
  save: () => void;
  /** Out of a conflict: mine replaces theirs, knowing them. */
  keepMine: () => void;
  /** Closes the field; what was written is kept. */
  leave: () => void;
  discard: () => void;
}

/** What one has written, and what stood there when one began. */
interface Written {
  was: string;
  version: number;
  text: string;
}

export function useEditing(task: Task, field: "title" | "description"): Editing {
  const client = useQueryClient();
  const [written, write, kept] = useDraft<Written | null>(`task.${task.task_id}.${field}`, null);
  const [open, setOpen] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  function leave() {
    setOpen(false);
    setConflict(null);
    setRefused(null);
    if (written !== null && written.text === written.was) kept.discard();
  }
  function discard() {
    kept.discard();
    leave();
  }

  async function store(from: Task, value: string) {
    setBusy(true);
    setRefused(null);
    try {
      const saved = await saveField(from, field, value);
      client.setQueryData(taskQuery(task.task_id).queryKey, saved);
      discard();
    } catch (error) {
      if (error instanceof Conflicting) setConflict(error.conflict);
      else setRefused(error);
    } finally {
      setBusy(false);
      await client.invalidateQueries({ queryKey: ["task", task.task_id] });
    }
  }

  const base = written === null ? null : { ...task, version: written.version, [field]: written.was };
  return {
    draft: open && written !== null ? written.text : null,
    unsaved: !open && written !== null && written.text !== written.was && written.text !== task[field],
    conflict,
    refused,
    busy,
    begin: () => {
      if (written === null) write({ was: task[field], version: task.version, text: task[field] });
      setOpen(true);
    },
    change: (text) => write((known) => (known === null ? known : { ...known, text })),
    save: () => {
      if (base === null || written === null) return;
      if (written.text === written.was) discard();
      else void store(base, written.text);
    },
    keepMine: () => {
      if (base === null || written === null || conflict === null) return;
      setConflict(null);
      void store({ ...base, [field]: conflict.theirs, version: conflict.version }, written.text);
    },
    leave,
    discard,
  };
}
