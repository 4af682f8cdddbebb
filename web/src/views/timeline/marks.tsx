// The bars: a launch says what for and how it went, a task how far it is, a gap why nothing runs.
import { Bot, Check, CircleAlert, LoaderCircle, MessagesSquare, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Hint, StatusIcon, duration } from "@/ui";

import { outcomeOf, type Bar } from "./lanes";
import type { Hold } from "./past";
import type { Scale } from "./scale";

const LAUNCH = {
  running: "border-blue bg-blue-soft text-blue",
  ended: "border-green/50 bg-green-soft text-green",
  failed: "border-red bg-red-soft text-red",
};
const TASK: Partial<Record<string, string>> = {
  in_progress: "border-blue/60",
  blocked: "border-amber",
  failed: "border-red",
};
const SIGNS = { running: LoaderCircle, ended: Check, failed: X };
const LEAST_PX = 5;
const ROOM_FOR_WORDS_PX = 44;

interface BarMarkProps {
  bar: Bar;
  scale: Scale;
  now: number;
  top: number;
  height: number;
  chosen: boolean;
  onChoose: () => void;
}

export function BarMark({ bar, scale, now, top, height, chosen, onChoose }: BarMarkProps) {
  const words = useWords(bar, now);
  const left = scale.x(bar.from);
  const width = Math.max(LEAST_PX, scale.x(bar.to ?? now) - left);
  const look =
    bar.kind === "launch"
      ? LAUNCH[outcomeOf(bar.launch)]
      : `border-dashed bg-panel text-soft ${TASK[bar.task.status] ?? "border-line-strong"}`;
  return (
    <Hint text={words}>
      <button
        type="button"
        aria-label={words}
        onClick={onChoose}
        style={{ left, width, top, height }}
        className={`absolute flex items-center gap-1 overflow-hidden rounded border px-1 text-left text-[11px] leading-none font-medium whitespace-nowrap hover:brightness-95 ${look} ${bar.to === null ? "rounded-r-none border-r-0" : ""} ${chosen ? "z-5 outline-2 outline-accent" : ""}`}
      >
        {width >= ROOM_FOR_WORDS_PX && <Inside bar={bar} />}
      </button>
    </Hint>
  );
}

function Inside({ bar }: { bar: Bar }) {
  const { t } = useTranslation("timeline");
  if (bar.kind === "task")
    return (
      <>
        <StatusIcon status={bar.task.status} size={12} />
        <span className="truncate">{bar.task.title}</span>
      </>
    );
  const Sign = SIGNS[outcomeOf(bar.launch)];
  const Purpose = bar.launch.purpose === "chat" ? MessagesSquare : Bot;
  return (
    <>
      <Sign size={12} aria-hidden className="shrink-0" />
      <Purpose size={12} aria-hidden className="shrink-0" />
      <span className="truncate">{t(`purpose.${bar.launch.purpose}`)}</span>
    </>
  );
}

/** What a bar says to who cannot see it, and as its hint. */
function useWords(bar: Bar, now: number): string {
  const { t, i18n } = useTranslation("timeline");
  const lasted = duration((bar.to ?? now) - bar.from, i18n.language);
  if (bar.kind === "task")
    return [bar.task.title, t(`status.${bar.task.status}`, { ns: "translation" }), lasted].join(" · ");
  const outcome = outcomeOf(bar.launch);
  return [
    t(`purpose.${bar.launch.purpose}`),
    t(`outcome.${outcome}`),
    ...(bar.launch.end_reason === null ? [] : [bar.launch.end_reason]),
    lasted,
    ...(bar.tokens === null ? [] : [t("tokens", { count: bar.tokens })]),
  ].join(" · ");
}

const QUIET = ["no_in_progress_task", "not_managed", "agent_inactive", "agent_not_assigned"];

export function HoldMark({ hold, scale, now }: { hold: Hold; scale: Scale; now: number }) {
  const { t, i18n } = useTranslation("timeline");
  const left = scale.x(hold.from);
  const width = scale.x(hold.to ?? now) - left;
  if (width < 2) return null;
  const quiet = QUIET.includes(hold.reason);
  const words = t("hold", { rule: hold.rule, time: duration((hold.to ?? now) - hold.from, i18n.language) });
  return (
    <Hint text={words}>
      <span
        role="img"
        aria-label={words}
        style={{ left, width }}
        className={`absolute inset-y-1 flex items-end overflow-hidden rounded-sm ${quiet ? "bg-sunken" : "bg-[repeating-linear-gradient(135deg,var(--amber-soft)_0_5px,transparent_5px_10px)]"}`}
      >
        {width > 90 && (
          <span
            className={`flex items-center gap-1 truncate pr-1 pb-0.5 pl-3 text-[10px] ${quiet ? "text-faint" : "text-amber"}`}
          >
            {!quiet && <CircleAlert size={10} aria-hidden className="shrink-0" />}
            {hold.rule}
          </span>
        )}
      </span>
    </Hint>
  );
}
