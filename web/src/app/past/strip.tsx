// Under the bar while one looks at the past: what changed last, the way from change to change, and a stretch of it
// played in twenty seconds. It stops at changes, not at instants: hours in which nothing happened take no time.
import { Lock, Moon, Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { useEffect, useState } from "react";

import { useKeys } from "@/app/keys";
import { useNames } from "@/app/names";
import { sentence } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Button, Failed, IconButton, Loading, useNow } from "@/ui";
import type { Change } from "./board-at";
import { Shown } from "./clock";
import { usePast } from "./past";
import { instantAfter, lastNight, paceOf, reached } from "./playing";
import { useChanges } from "./use-past";

export function PastStrip({ projectId }: { projectId: string }) {
  const { t } = useTranslation();
  const { at, wrong } = usePast();
  const { changes, stops, error, retry } = useChanges(projectId);
  if (wrong)
    return (
      <div className="flex flex-wrap items-center gap-2 border-b border-amber bg-amber-soft px-4 py-2 text-[13px] text-amber">
        <p role="alert">{t("past.wrong")}</p>
        <Shown className="flex sm:hidden" />
      </div>
    );
  if (at === null) return null; // it was the past until now
  if (error !== null) return <Failed error={error} retry={retry} />;
  if (changes === null) return <Loading rows={1} />;
  return <Controls projectId={projectId} at={at} changes={changes} stops={stops} />;
}

interface ControlsProps {
  projectId: string;
  at: number;
  changes: readonly Change[];
  stops: readonly number[];
}

function Controls({ projectId, at, changes, stops }: ControlsProps) {
  const { t } = useTranslation();
  const { t: audit } = useTranslation("audit");
  const { go } = usePast();
  const names = useNames(projectId);
  const many = reached(stops, at);
  const { playing, play, pause } = usePlay(stops, many);
  const step = (by: number) => {
    pause();
    const to = Math.min(stops.length, Math.max(0, many + by));
    go(instantAfter(stops, to, Date.now()));
  };
  useKeys([
    { key: "ArrowLeft", words: t("past.back"), run: () => step(-1), first: true },
    { key: "ArrowRight", words: t("past.on"), run: () => step(1), first: true },
  ]);
  const last = changes.findLast((each) => each.at <= at);
  const told = last === undefined ? t("past.beginning") : sentence(last.event, names, audit);
  const night = lastNight(useNow());
  const tonight = [reached(stops, night.from), reached(stops, night.to)] as const;
  return (
    <section aria-label={t("past.title")} className="shrink-0 border-b border-amber bg-amber-soft/60">
      <Shown className="mx-3 mt-1.5 flex w-fit sm:hidden" />
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1.5">
        <IconButton label={t("past.back")} disabled={many === 0} onClick={() => step(-1)}>
          <SkipBack size={15} />
        </IconButton>
        <Button small look="primary" onClick={() => (playing ? pause() : play(many === stops.length ? 0 : many))}>
          {playing ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
          {t(playing ? "past.pause" : "past.play")}
        </Button>
        <IconButton label={t("past.on")} disabled={many === stops.length} onClick={() => step(1)}>
          <SkipForward size={15} />
        </IconButton>
        {tonight[1] > tonight[0] && (
          <Button small onClick={() => play(tonight[0], tonight[1])} title={t("past.nightWhy")}>
            <Moon size={14} aria-hidden />
            {t("past.night")}
          </Button>
        )}
        <input
          type="range"
          min={0}
          max={stops.length}
          value={many}
          onChange={(event) => {
            pause();
            go(instantAfter(stops, Number(event.target.value), Date.now()));
          }}
          aria-label={t("past.title")}
          aria-valuetext={told}
          className="h-8 min-w-40 flex-1 accent-[var(--accent)]"
        />
        <span className="flex items-center gap-1.5 text-xs font-medium text-amber">
          <Lock size={13} aria-hidden />
          {t("past.readOnly")}
        </span>
      </div>
      <p role="status" className="truncate px-4 pb-1.5 text-xs text-soft">
        {told}
      </p>
    </section>
  );
}

/** Walks from one change to another, all of them in at most twenty seconds. `many`: how many are shown now. */
function usePlay(stops: readonly number[], many: number) {
  const { go, pass } = usePast();
  const [stretch, setStretch] = useState<{ from: number; to: number } | null>(null);
  const pause = () => {
    if (stretch !== null) go(instantAfter(stops, many, Date.now()));
    setStretch(null);
  };
  const play = (from: number, to = stops.length) => {
    pass(instantAfter(stops, from, Date.now()));
    setStretch({ from, to });
  };
  useEffect(() => {
    if (stretch === null) return;
    const { tickMs, step } = paceOf(stretch.to - stretch.from);
    let place = stretch.from;
    const walking = window.setInterval(() => {
      place = Math.min(stretch.to, place + step);
      const next = instantAfter(stops, place, Date.now());
      if (place < stretch.to) return pass(next);
      setStretch(null);
      go(next);
    }, tickMs);
    return () => window.clearInterval(walking);
    // What happens while it plays is not a reason to begin again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [stretch]);
  return { playing: stretch !== null, play, pause };
}
