// The bars: a launch says what for and how it went, a task how far it is, a gap why nothing runs.
import {
  Check,
  CircleAlert,
  CircleSlash,
  LoaderCircle,
  LogOut,
  MessagesSquare,
  RotateCcw,
  Square,
  X,
  type LucideIcon,
} from "lucide-react";

import { useDoingOf } from "@/app/doing-of";
import { inWords } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { DoingNow, Hint, HoverCard, StatusIcon, duration } from "@/ui";

import { BarCard } from "./card";
import type { Hold } from "./holds";
import type { Bar, LaunchBar, Result } from "./lanes";
import type { Scale } from "./scale";

const QUIET_LOOK = "border-line-strong bg-sunken text-soft";
const LAUNCH: Record<Result, string> = {
  running: "border-blue bg-blue-soft text-blue",
  completed: "border-green/50 bg-green-soft text-green",
  failed: "border-red bg-red-soft text-red",
  blocked: "border-amber bg-amber-soft text-amber",
  cancelled: QUIET_LOOK,
  restarted: QUIET_LOOK,
  ended: QUIET_LOOK,
  stopped:
    "border-line-strong text-soft bg-panel bg-[repeating-linear-gradient(135deg,var(--line-strong)_0_2px,transparent_2px_7px)]",
};
const SIGNS: Record<Result, LucideIcon> = {
  running: LoaderCircle,
  completed: Check,
  failed: X,
  blocked: CircleAlert,
  cancelled: CircleSlash,
  stopped: Square,
  restarted: RotateCcw,
  ended: LogOut,
};
const TASK: Partial<Record<string, string>> = {
  in_progress: "border-blue/60",
  blocked: "border-amber",
  failed: "border-red",
  completed: "border-green/50",
};
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
      ? LAUNCH[bar.result]
      : `border-dashed bg-panel text-soft ${TASK[bar.task.status] ?? "border-line-strong"}`;
  return (
    <HoverCard label={words} card={<BarCard bar={bar} now={now} />}>
      <button
        type="button"
        data-result={bar.kind === "launch" ? bar.result : undefined}
        onClick={onChoose}
        style={{ left, width, top, height }}
        className={`absolute flex items-center gap-1 overflow-hidden rounded border px-1 text-left text-[11px] leading-none font-medium whitespace-nowrap hover:brightness-95 ${look} ${bar.to === null ? "rounded-r-none border-r-0" : ""} ${chosen ? "z-5 outline-2 outline-accent" : ""}`}
      >
        <span className="sr-only">{words}</span>
        {width >= ROOM_FOR_WORDS_PX && <Inside bar={bar} />}
      </button>
    </HoverCard>
  );
}

function Inside({ bar }: { bar: Bar }) {
  if (bar.kind === "launch") return <InsideLaunch bar={bar} />;
  return (
    <>
      <StatusIcon status={bar.task.status} size={12} />
      <span aria-hidden className="truncate">
        {bar.task.title}
      </span>
    </>
  );
}

function InsideLaunch({ bar: { launch, task, result, to } }: { bar: LaunchBar }) {
  const { t } = useTranslation("timeline");
  const doing = useDoingOf({ launch: to === null ? launch.launch_id : "" });
  const Sign = SIGNS[result];
  return (
    <>
      <Sign size={12} aria-hidden className="shrink-0" />
      {launch.purpose === "chat" && <MessagesSquare size={12} aria-hidden className="shrink-0" />}
      <span aria-hidden className="truncate">
        {task?.title ?? t(`purpose.${launch.purpose}`)}
      </span>
      {doing !== null && <DoingNow doing={doing} mayWait={launch.purpose === "chat"} />}
    </>
  );
}

/** What a bar says to who cannot see it. */
function useWords(bar: Bar, now: number): string {
  const { t, i18n } = useTranslation("timeline");
  const { t: audit } = useTranslation("audit");
  const lasted = duration((bar.to ?? now) - bar.from, i18n.language);
  if (bar.kind === "task")
    return [bar.task.title, t(`status.${bar.task.status}`, { ns: "translation" }), lasted].join(" · ");
  return [
    ...(bar.task === undefined ? [] : [bar.task.title]),
    t(`purpose.${bar.launch.purpose}`),
    t(`result.${bar.result}`),
    ...(bar.launch.end_reason === null ? [] : [inWords(bar.launch.end_reason, audit)]),
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
