// Instants and durations as people say them; they grow by themselves, all on one clock.
import { useSyncExternalStore } from "react";

import { useWords } from "@/i18n/use-words";
import { language } from "@/i18n/words";
import { numberFormat } from "@/ui/formats";

let now = Date.now();
const listeners = new Set<() => void>();
let ticking: number | undefined;

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  if (ticking === undefined) {
    now = Date.now(); // the clock stood while nobody looked
    ticking = window.setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(changed);
    if (listeners.size === 0) {
      window.clearInterval(ticking);
      ticking = undefined;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The current time as text: a component renders again only when the text changes. */
export function useTold(tell: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => tell(now));
}

const WHOLE = {
  ...({ year: "numeric", month: "numeric", day: "numeric" } as const),
  ...({ hour: "numeric", minute: "numeric", second: "numeric" } as const),
};
const instants = new Map<string, Intl.DateTimeFormat>();

function instant(at: string): string {
  const shown = language();
  const known = instants.get(shown) ?? new Intl.DateTimeFormat(shown, WHOLE);
  instants.set(shown, known);
  const moment = Date.parse(at);
  return Number.isNaN(moment) ? at : known.format(moment);
}

/** `3 min`: the largest unit, and the next one where it is small. */
export function duration(milliseconds: number, language: string): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts: [number, string][] =
    seconds < 60
      ? [[seconds, "second"]]
      : seconds < 3600
        ? [[Math.floor(seconds / 60), "minute"]]
        : seconds < 86_400
          ? [
              [Math.floor(seconds / 3600), "hour"],
              [Math.floor((seconds % 3600) / 60), "minute"],
            ]
          : [[Math.floor(seconds / 86_400), "day"]];
  return parts
    .filter(([count], place) => place === 0 || count > 0)
    .map(([count, unit]) => numberFormat(language, { style: "unit", unit, unitDisplay: "short" }).format(count))
    .join(" ");
}

/** How long something ran, which may be short: `0.4 sec`. */
export function runTime(milliseconds: number, language: string): string {
  if (milliseconds >= 10_000) return duration(milliseconds, language);
  const seconds = numberFormat(language, {
    style: "unit",
    unit: "second",
    unitDisplay: "short",
    maximumFractionDigits: 1,
  });
  return milliseconds < 50 ? `<${seconds.format(0.1)}` : seconds.format(milliseconds / 1000);
}

/** Clocks may be this far apart: what has just happened does not come from the future. */
const APART_MS = 60_000;

/** How long ago, or in how long, with the full instant as its title. */
export function Ago({ at }: { at: string | null }) {
  const t = useWords();
  const words = useTold((now) => {
    if (at === null) return "";
    const since = now - Date.parse(at);
    if (since < -APART_MS) return t("time.in", { time: duration(-since, language()) });
    return since < 5000 ? t("time.justNow") : t("time.ago", { time: duration(since, language()) });
  });
  if (at === null) return null;
  return (
    <time dateTime={at} title={instant(at)} className="tabular-nums">
      {words}
    </time>
  );
}

/** How long something has lasted, or lasted. */
export function Elapsed({ from, to = null }: { from: string; to?: string | null }) {
  useWords();
  const words = useTold((now) => duration((to === null ? now : Date.parse(to)) - Date.parse(from), language()));
  return <span className="tabular-nums">{words}</span>;
}

/** How much time is left. */
export function Countdown({ until }: { until: string }) {
  const t = useWords();
  const words = useTold((now) => {
    const left = Date.parse(until) - now;
    return left <= 0 ? t("time.now") : t("time.left", { time: duration(left, language()) });
  });
  return (
    <time dateTime={until} title={instant(until)} className="tabular-nums">
      {words}
    </time>
  );
}
