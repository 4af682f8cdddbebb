// Carrying out what a row offers: at once, after asking for words, or by going there. What was done is said; what was
// refused is said in the server's words.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Need } from "@/api/model";
import { navigate } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";
import { actOf, subject, type Action } from "@/views/home/acts";

interface Asking {
  need: Need;
  action: Action;
  subject: string;
  asks: "reason" | "tell";
}

export interface Acting {
  begin: (need: Need, action: Action) => void;
  /** The row that is at it now: its button waits. */
  busy: string | null;
  asking: Asking | null;
  /** Throws what was refused: the dialog that asked for words shows it, and keeps them. */
  said: (words: string) => Promise<void>;
  close: () => void;
}

export function useActing(): Acting {
  const { t } = useTranslation("home");
  const [busy, setBusy] = useState<string | null>(null);
  const [asking, setAsking] = useState<Asking | null>(null);
  const client = useQueryClient();
  const toast = useToast();

  async function carryOut(need: Need, { name }: Action, run: (words: string) => Promise<unknown>, words: string) {
    setBusy(need.key);
    try {
      await run(words);
      toast.done(`${t(`done.${name}`)}: ${subject(need)}`);
    } finally {
      await client.invalidateQueries({ queryKey: ["overview"] });
      setBusy(null);
    }
  }

  function begin(need: Need, action: Action) {
    const act = actOf(need, action);
    if (busy !== null || act.how === "command") return;
    if (act.how === "go") void navigate({ to: act.to, search: act.search });
    else if (act.asks !== null) setAsking({ need, action, subject: subject(need), asks: act.asks });
    else void carryOut(need, action, act.run, "").catch(toast.failed);
  }

  async function said(words: string) {
    if (asking === null) return;
    const act = actOf(asking.need, asking.action);
    if (act.how === "do") await carryOut(asking.need, asking.action, act.run, words);
  }

  return { begin, busy, asking, said, close: () => setAsking(null) };
}
