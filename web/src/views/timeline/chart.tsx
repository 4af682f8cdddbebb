// The chart: lanes on the left stay, time scrolls; only what is seen is drawn, and while one looks at now, now stays.
import { Bot, UserRound } from "lucide-react";
import { useRef } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Avatar } from "@/ui";

import { BarMark, HoldMark } from "./marks";
import type { Hold } from "./holds";
import type { Bar, Lane } from "./lanes";
import { useFollow, useWheel, useWindow } from "./looking";
import { AFTER, ZOOMS, lines, scaleOf, seen, spanOf, stepFor, type Scale, type Zoom } from "./scale";

const ROW_PX = 24;
const NARROW_PX = 640;
const BEYOND = 0.25;
const MINUTE_MS = 60_000;

interface ChartProps {
  lanes: readonly Lane[];
  holds: ReadonlyMap<string, readonly Hold[]>;
  zoom: Zoom;
  first: number;
  /** When there is something to see. */
  extent: { begins: number; ends: number };
  now: number;
  /** The instant that the slider stands at. */
  then: number | null;
  /** Grows when the reader asks for now. */
  asked: number;
  chosen: string | null;
  onChoose: (bar: Bar) => void;
  /** By that many pixels of the wheel. */
  onWheel: (pixels: number) => void;
}

export function Chart(given: ChartProps) {
  const { lanes, holds, zoom, first, extent, now, then, asked, chosen, onChoose, onWheel } = given;
  const { t } = useTranslation("timeline");
  const box = useRef<HTMLDivElement>(null);
  const { width, left, setLeft } = useWindow(box);
  const names = width < NARROW_PX ? 44 : 188;
  const room = Math.max(120, width - names);
  const shows = spanOf(zoom, extent.begins, extent.ends);
  const scale = scaleOf(shows, first, now, room);
  const anchor = useWheel(box, scale, names, onWheel);
  const end = zoom === "fit" && asked === 0 ? scale.x(extent.ends + shows * AFTER) : scale.width;
  useFollow(box, { scale, end: Math.max(0, end - room), room, then, key: `${asked}:${zoom}:${room}`, anchor });

  const [from, to] = [scale.at(left - room * BEYOND), scale.at(left + room * (1 + BEYOND))];
  const ticks = lines(shows, from, to, width < NARROW_PX);
  return (
    <div
      ref={box}
      role="region"
      aria-label={t("chart")}
      onScroll={(event) => setLeft(event.currentTarget.scrollLeft)}
      className="min-h-0 flex-1 overflow-auto"
    >
      <div className="relative flex min-h-full flex-col" style={{ width: names + scale.width }}>
        {ticks.map((at) => (
          <span
            key={at}
            aria-hidden
            className={`absolute inset-y-0 border-l ${isMidnight(at) ? "border-line-strong" : "border-line/70"}`}
            style={{ left: names + scale.x(at) }}
          />
        ))}
        <Ticks ticks={ticks} scale={scale} shows={shows} offset={names} />
        <Moment x={names + scale.x(now)} words={t("now")} tone="accent" />
        {then !== null && <Moment x={names + scale.x(then)} words={t("then")} tone="violet" />}
        <ul aria-label={t("lanes")}>
          {lanes.map((lane) => (
            <li
              key={lane.agentId}
              className="relative flex border-b border-line"
              style={{ height: Math.max(2, lane.rows) * ROW_PX + 14 }}
            >
              <Name lane={lane} width={names} short={width < NARROW_PX} />
              <div className="relative">
                {seen(holds.get(lane.agentId) ?? [], from, to).map((each) => (
                  <HoldMark key={each.from} hold={each} scale={scale} now={then ?? now} />
                ))}
                {seen(
                  lane.bars.map(({ bar, row }) => ({ ...bar, bar, row })),
                  from,
                  to,
                ).map(({ bar, row }) => (
                  <BarMark
                    key={bar.id}
                    bar={bar}
                    scale={scale}
                    now={then ?? now}
                    top={7 + row * ROW_PX}
                    height={ROW_PX - 4}
                    chosen={bar.id === chosen}
                    onChoose={() => onChoose(bar)}
                  />
                ))}
              </div>
            </li>
          ))}
        </ul>
        <div aria-hidden className="sticky left-0 z-20 flex-1 border-r border-line bg-paper" style={{ width: names }} />
      </div>
    </div>
  );
}

function Name({ lane, width, short }: { lane: Lane; width: number; short: boolean }) {
  const Icon = lane.person ? UserRound : Bot;
  return (
    <span
      className="sticky left-0 z-20 flex items-center gap-2 border-r border-line bg-paper px-2.5"
      style={{ width, minWidth: width }}
      title={lane.name}
    >
      <Avatar id={lane.agentId} name={lane.name} size={24} />
      <span className={short ? "sr-only" : "truncate text-[13px] font-medium"}>{lane.name}</span>
      {!short && <Icon size={13} className="ml-auto shrink-0 text-faint" aria-hidden />}
    </span>
  );
}

const isMidnight = (at: number) => new Date(at).getHours() === 0 && new Date(at).getMinutes() === 0;

function Ticks({ ticks, scale, shows, offset }: { ticks: number[]; scale: Scale; shows: number; offset: number }) {
  const { i18n } = useTranslation();
  const step = stepFor(shows);
  const time = new Intl.DateTimeFormat(i18n.language, {
    hour: "2-digit",
    minute: "2-digit",
    ...(step < MINUTE_MS ? { second: "2-digit" as const } : {}),
    hourCycle: "h23",
  });
  const day = new Intl.DateTimeFormat(i18n.language, { weekday: "short", month: "short", day: "numeric" });
  const days = step >= ZOOMS.day;
  return (
    <div className="sticky top-0 z-30 h-8 overflow-x-clip border-b border-line bg-paper text-[11px] text-faint tabular-nums">
      <div className="sticky left-0 z-10 h-full border-r border-line bg-paper" style={{ width: offset }} />
      {ticks.map((at) => (
        <span
          key={at}
          className={`absolute top-2 -translate-x-1/2 whitespace-nowrap ${isMidnight(at) ? "font-semibold text-soft" : ""}`}
          style={{ left: offset + scale.x(at) }}
        >
          {days || isMidnight(at) ? day.format(at) : time.format(at)}
        </span>
      ))}
    </div>
  );
}

function Moment({ x, words, tone }: { x: number; words: string; tone: "accent" | "violet" }) {
  const colour = tone === "accent" ? "border-accent" : "border-violet border-dashed";
  return (
    <div aria-hidden className="pointer-events-none absolute inset-y-0 z-10" style={{ left: x }}>
      <div className={`absolute inset-y-0 border-l-2 ${colour}`} />
      <span
        className={`absolute top-8 -translate-x-1/2 rounded-b px-1 whitespace-nowrap text-[10px] font-semibold ${tone === "accent" ? "bg-accent text-accent-ink" : "bg-violet text-paper"}`}
      >
        {words}
      </span>
    </div>
  );
}
