// Changing a field where it stands. It is sent with the version one has read; where somebody else changed the same
// field meanwhile both texts are shown, and nothing is lost. A change elsewhere in the task is no conflict.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { editTask, type TaskEdit } from "@/api/actions";
import { Refused, get } from "@/api/client";
import type { Task } from "@/api/model";
import { task as taskQuery } from "@/api/queries";

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
      return (await editTask(base.task_id, { [field]: value } as TaskEdit, version)).task;
    } catch (error) {
      if (!(error instanceof Refused) || error.problem.code !== "conflict" || tries === TRIES) throw error;
      const now = (await get<{ task: Task }>(`/tasks/${encodeURIComponent(base.task_id)}`)).task;
      if (now[field] !== base[field])
        throw new Conflicting({ theirs: now[field] ?? "", mine: value ?? "", version: now.version });
      version = now.version;
    }
  }
}

export interface Editing {
  draft: string | null;
  conflict: Conflict | null;
  refused: unknown;
  busy: boolean;
  begin: () => void;
  change: (draft: string) => void;
  save: () => void;
  /** Out of a conflict: mine replaces theirs, knowing them. */
  keepMine: () => void;
  leave: () => void;
}

export function useEditing(task: Task, field: "title" | "description"): Editing {
  const client = useQueryClient();
  const [base, setBase] = useState<Task | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  function leave() {
    setBase(null);
    setDraft(null);
    setConflict(null);
    setRefused(null);
  }

  async function store(from: Task, value: string) {
    setBusy(true);
    setRefused(null);
    try {
      const saved = await saveField(from, field, value);
      client.setQueryData(taskQuery(task.task_id).queryKey, saved);
      leave();
    } catch (error) {
      if (error instanceof Conflicting) setConflict(error.conflict);
      else setRefused(error);
    } finally {
      setBusy(false);
      await client.invalidateQueries({ queryKey: ["task", task.task_id] });
    }
  }

  return {
    draft,
    conflict,
    refused,
    busy,
    begin: () => {
      setBase(task);
      setDraft(task[field]);
    },
    change: setDraft,
    save: () => {
      if (base === null || draft === null) return;
      if (draft === base[field]) leave();
      else void store(base, draft);
    },
    keepMine: () => {
      if (base === null || draft === null || conflict === null) return;
      setConflict(null);
      void store({ ...base, [field]: conflict.theirs, version: conflict.version }, draft);
    },
    leave,
  };
}
