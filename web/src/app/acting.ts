// What a person does with the task that is open: which acts there are is asked of the server, and so are its words of
// refusal. The acts are declared in task-acts.ts.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Move, Task } from "@/api/model";
import { moves } from "@/api/queries";
import { useDoing } from "@/app/doing";
import { actNamed, needsWords, verb, type ActName, type Given, type Verdict } from "@/app/task-acts";
import { useToast } from "@/ui";

export interface Acting {
  verdict: Verdict & { moves: readonly Move[] };
  /** The act that waits for words, and whether it needs any. */
  asking: { name: ActName; required: boolean } | null;
  busy: boolean;
  /** Does it, or asks for words first. What is refused is told. */
  act: (name: ActName, given?: Given) => void;
  move: (move: Move) => void;
  /** Throws what was refused: the dialog that asked for words shows it, and keeps them. */
  said: (words: string) => Promise<void>;
  close: () => void;
}

export function useActing(task: Task): Acting {
  const known = useQuery(moves(task.task_id)).data;
  const doing = useDoing();
  const toast = useToast();
  const [asking, setAsking] = useState<Acting["asking"]>(null);
  const [busy, setBusy] = useState(false);
  const verdict = { moves: known?.moves ?? [], judges: known?.may_judge ?? false, work: null };

  async function carryOut(name: ActName, given: Given) {
    setBusy(true);
    try {
      await doing(name, task, given);
    } finally {
      setBusy(false);
    }
  }

  function act(name: ActName, given: Given = {}) {
    const declared = actNamed(name);
    if (declared.how === "words") setAsking({ name, required: needsWords(declared, verdict) });
    else void carryOut(name, given).catch(toast.failed);
  }

  return {
    verdict,
    asking,
    busy,
    act,
    move: (each) => act(verb(task.status, each.status)),
    said: (words) => (asking === null ? Promise.resolve() : carryOut(asking.name, { words })),
    close: () => setAsking(null),
  };
}
