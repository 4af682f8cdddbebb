// An instant of the past as people say it: "17:37 yesterday".
import type { TFunction } from "@/i18n/words";

const DAY_MS = 86_400_000;

export function momentWords(at: number, now: number, language: string, t: TFunction): string {
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);
  const days = Math.round((midnight(now) - midnight(at)) / DAY_MS);
  if (days === 0) return t("past.today", { time });
  if (days === 1) return t("past.yesterday", { time });
  const date = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric" }).format(at);
  return t("past.day", { time, date });
}

function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
