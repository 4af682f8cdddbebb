// The board as it was: a slider over everything that has changed it, with play and pause. It stops at events, not at
// instants: a night in which nothing happened takes no time.
import { Pause, Play, SkipBack, SkipForward, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { STATUSES, type Event } from "@/api/model";
import { Button, IconButton, StatusIcon } from "@/ui";

import { boardAfter, turningPoints, type Then } from "./past";

const SPEEDS = [1, 8, 64] as const;
const STEP_MS = 600;

interface ReplayProps {
  events: readonly Event[];
  titles: ReadonlyMap<string, string>;
  onThen: (at: number | null) => void;
  onClose: () => void;
}

export function Replay({ events, titles, onThen, onClose }: ReplayProps) {
  const { t, i18n } = useTranslation("timeline");
  const points = useMemo(() => turningPoints(events), [events]);
  const [place, setPlace] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1);
  const many = Math.min(place ?? points.length, points.length);
  const last = points[many - 1];
  const tasks = useMemo(() => boardAfter(points, many, titles), [points, many, titles]);

  const go = (to: number) => {
    const next = Math.min(points.length, Math.max(0, to));
    setPlace(next);
    if (next === points.length) setPlaying(false);
  };
  const at = last === undefined ? null : Date.parse(last.at);
  useEffect(() => onThen(at), [at, onThen]);
  useEffect(() => () => onThen(null), [onThen]);
  useEffect(() => {
    if (!playing) return;
    const step = window.setInterval(() => {
      setPlace((before) => {
        const next = (before ?? points.length) + 1;
        if (next >= points.length) setPlaying(false);
        return Math.min(points.length, next);
      });
    }, STEP_MS / speed);
    return () => window.clearInterval(step);
  }, [playing, speed, points.length]);

  const play = () => {
    if (!playing && many >= points.length) go(0);
    setPlaying(!playing);
  };
  const told = last === undefined ? t("beginning") : tell(last, titles);
  return (
    <section aria-label={t("past")} className="border-b border-line bg-sunken">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
        <IconButton label={t("step.back")} className="size-8" onClick={() => go(many - 1)} disabled={many === 0}>
          <SkipBack size={15} />
        </IconButton>
        <Button look="primary" small className="w-9" aria-label={playing ? t("pause") : t("play")} onClick={play}>
          {playing ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
        </Button>
        <IconButton
          label={t("step.on")}
          className="size-8"
          onClick={() => go(many + 1)}
          disabled={many === points.length}
        >
          <SkipForward size={15} />
        </IconButton>
        <Button small look="quiet" onClick={() => setSpeed(SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length] ?? 1)}>
          <span className="sr-only">{t("speed")} </span>×{speed}
        </Button>
        <input
          type="range"
          min={0}
          max={points.length}
          value={many}
          onChange={(event) => {
            setPlaying(false);
            go(Number(event.target.value));
          }}
          aria-label={t("past")}
          aria-valuetext={told}
          className="h-8 min-w-40 flex-1 accent-[var(--accent)]"
        />
        <time className="text-xs text-soft tabular-nums" dateTime={last?.at ?? ""}>
          {last === undefined
            ? "–"
            : new Date(last.at).toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "medium" })}
        </time>
        <IconButton label={t("close")} className="size-8" onClick={onClose}>
          <X size={15} />
        </IconButton>
      </div>
      <p role="status" className="truncate px-4 text-xs text-soft">
        {told}
      </p>
      <Columns tasks={tasks} changed={last?.task_id ?? null} />
    </section>
  );
}

function tell(event: Event, titles: ReadonlyMap<string, string>): string {
  const title = titles.get(event.task_id ?? "") ?? event.task_id ?? "";
  return `${event.actor_id} · ${event.kind.replace("task.", "")} · ${title}`;
}

/** The board, small: what is about to change is marked. */
export function Columns({ tasks, changed }: { tasks: readonly Then[]; changed: string | null }) {
  const { t } = useTranslation("timeline");
  return (
    <div className="flex snap-x gap-2 overflow-x-auto px-4 py-2.5">
      {STATUSES.map((status) => {
        const here = tasks.filter((each) => each.status === status);
        return (
          <section
            key={status}
            aria-label={t(`status.${status}`, { ns: "translation" })}
            className={`flex max-h-44 min-w-36 flex-1 snap-start flex-col rounded-md border border-line bg-paper ${here.length === 0 ? "opacity-60" : ""}`}
          >
            <h3 className="flex items-center gap-1.5 px-2 py-1.5 text-xs font-medium">
              <span aria-hidden className="flex">
                <StatusIcon status={status} size={13} />
              </span>
              <span className="truncate">{t(`status.${status}`, { ns: "translation" })}</span>
              <span className="ml-auto text-faint tabular-nums">{here.length}</span>
            </h3>
            <ul className="space-y-1 overflow-y-auto px-1.5 pb-1.5">
              {here.slice(0, SHOWN).map((each) => (
                <li
                  key={each.task_id}
                  className={`truncate rounded border px-1.5 py-0.5 text-[11px] ${each.task_id === changed ? "border-accent bg-accent-soft" : "border-line bg-panel"}`}
                  title={each.title}
                >
                  {each.title}
                </li>
              ))}
              {here.length > SHOWN && (
                <li className="px-1.5 text-[11px] text-faint">
                  {t("app.more", { ns: "translation", count: here.length - SHOWN })}
                </li>
              )}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

const SHOWN = 60;
