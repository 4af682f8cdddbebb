// What an agent does now, in one line: `→ Bash pytest -q · 12 s`. After a while without a sign it says so.
import { Check, CircleAlert, MessageSquareText, SquareTerminal, Wrench, X, type LucideIcon } from "lucide-react";

import type { Doing } from "@/api/model";
import { useWords } from "@/i18n/use-words";
import { language } from "@/i18n/words";
import { duration, useTold } from "@/ui/time";

/** Older than this, the newest sign no longer says what the agent does. */
export const SILENT_MS = 90_000;

const SIGNS: Record<Doing["kind"], LucideIcon> = {
  called: Wrench,
  returned: Check,
  failed: X,
  said: MessageSquareText,
  printed: SquareTerminal,
};

interface DoingNowProps {
  doing: Doing | null | undefined;
  /** Another sign of life, its last call for example: the newest counts. */
  heard?: string | null | undefined;
  /** Who waits for words of a person may be silent. */
  mayWait?: boolean;
  className?: string;
}

export function DoingNow({ doing, heard = null, mayWait = false, className = "" }: DoingNowProps) {
  const t = useWords();
  const from = newest(doing?.since ?? null, heard);
  const told = useTold((now) => {
    if (doing == null || from === null) return "";
    const silent = now - Date.parse(from);
    const last = duration(now - Date.parse(doing.since), language());
    return !mayWait && silent >= SILENT_MS ? `!${duration(silent, language())}` : last;
  });
  if (doing == null) return null;
  const silent = told.startsWith("!");
  const Icon = silent ? CircleAlert : SIGNS[doing.kind];
  const words = [doing.tool, doing.text].filter(Boolean).join(" ");
  const time = silent ? t("doing.silent", { time: told.slice(1) }) : told;
  return (
    <span
      data-doing={silent ? "silent" : doing.kind}
      title={`${t(`doing.${doing.kind}`)}: ${words}`}
      className={`flex min-w-0 items-center gap-1.5 text-xs ${silent ? "text-amber" : "text-faint"} ${className}`}
    >
      <Icon size={12} aria-hidden className={`shrink-0 ${doing.kind === "failed" && !silent ? "text-red" : ""}`} />
      <span className="sr-only">{t(`doing.${doing.kind}`)}: </span>
      <span className="min-w-0 truncate font-mono">
        {doing.tool !== null && <b className="font-medium text-soft">{doing.tool} </b>}
        {doing.text}
      </span>
      <span className="shrink-0 whitespace-nowrap tabular-nums">· {time}</span>
    </span>
  );
}

/** The later of two instants. */
export function newest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) >= Date.parse(b) ? a : b;
}
