// Carrying out what a row offers: at once, after asking for words, or by going there. What was done is said; what was
// refused is said in the server's words.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Need } from "@/api/model";
import { navigate } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";
import { actOf, subject } from "@/views/home/acts";

interface Asking {
  need: Need;
  name: string;
  subject: string;
  asks: "reason" | "tell";
  danger: boolean;
}

export interface Acting {
  begin: (need: Need, name: string) => void;
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

  async function carryOut(need: Need, name: string, run: (words: string) => Promise<unknown>, words: string) {
    setBusy(need.key);
    try {
      await run(words);
      toast.done(`${t(`done.${name}`)}: ${subject(need)}`);
    } finally {
      await client.invalidateQueries({ queryKey: ["overview"] });
      setBusy(null);
    }
  }

  function begin(need: Need, name: string) {
    const act = actOf(need, name);
    if (busy !== null || act.how === "command") return;
    if (act.how === "go") void navigate({ to: act.to, search: act.search });
    else if (act.asks !== null) setAsking({ need, name, subject: subject(need), asks: act.asks, danger: act.danger });
    else void carryOut(need, name, act.run, "").catch(toast.failed);
  }

  async function said(words: string) {
    if (asking === null) return;
    const act = actOf(asking.need, asking.name);
    if (act.how === "do") await carryOut(asking.need, asking.name, act.run, words);
  }

  return { begin, busy, asking, said, close: () => setAsking(null) };
}
