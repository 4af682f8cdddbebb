// The chart: lanes on the left stay, time scrolls; only what is seen is drawn, and while one looks at now, now stays.
import { Bot, UserRound } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { useTranslation } from "react-i18next";

import { Avatar } from "@/ui";

import { BarMark, HoldMark } from "./marks";
import type { Bar, Lane } from "./lanes";
import type { Hold } from "./past";
import { ZOOMS, lines, scaleOf, seen, type Scale, type Zoom } from "./scale";

const ROW_PX = 24;
const NARROW_PX = 640;
const BEYOND = 0.25;

interface ChartProps {
  lanes: readonly Lane[];
  holds: ReadonlyMap<string, readonly Hold[]>;
  zoom: Zoom;
  first: number;
  now: number;
  /** The instant that the slider stands at. */
  then: number | null;
  /** Grows when the reader asks for now. */
  asked: number;
  chosen: string | null;
  onChoose: (bar: Bar) => void;
}

export function Chart({ lanes, holds, zoom, first, now, then, asked, chosen, onChoose }: ChartProps) {
  const { t } = useTranslation("timeline");
  const box = useRef<HTMLDivElement>(null);
  const { width, left, setLeft } = useWindow(box);
  const names = width < NARROW_PX ? 44 : 188;
  const room = Math.max(120, width - names);
  const scale = scaleOf(zoom, first, now, room);
  useFollow(box, scale, room, then, asked, zoom);

  const [from, to] = [scale.at(left - room * BEYOND), scale.at(left + room * (1 + BEYOND))];
  const ticks = lines(zoom, from, to, width < NARROW_PX);
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
        <Ticks ticks={ticks} scale={scale} zoom={zoom} offset={names} />
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
                  <HoldMark key={each.from} hold={each} scale={scale} now={now} />
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
                    now={now}
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

/** How wide the window is, and how far it is scrolled. */
function useWindow(box: RefObject<HTMLDivElement | null>) {
  const [width, setWidth] = useState(1000);
  const [left, setLeft] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return { width, left, setLeft };
}

/** Who looks at now goes with it; who has scrolled back is left alone; where the slider goes, the window follows. */
function useFollow(
  box: RefObject<HTMLDivElement | null>,
  scale: Scale,
  room: number,
  then: number | null,
  asked: number,
  zoom: Zoom,
): void {
  const end = Math.max(0, scale.width - room);
  const known = useRef({ end: -1, key: "" });
  const key = `${asked}:${zoom}:${room}`;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const atEnd = element.scrollLeft >= known.current.end - 2;
    if (then === null && (atEnd || known.current.key !== key)) element.scrollTo?.({ left: end });
    known.current = { end, key };
  }, [box, end, key, then]);
  const x = then === null ? null : scale.x(then);
  useEffect(() => {
    const element = box.current;
    if (element === null || x === null) return;
    if (x < element.scrollLeft || x > element.scrollLeft + room) element.scrollTo?.({ left: x - room / 2 });
  }, [box, x, room]);
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

function Ticks({ ticks, scale, zoom, offset }: { ticks: number[]; scale: Scale; zoom: Zoom; offset: number }) {
  const { i18n } = useTranslation();
  const time = new Intl.DateTimeFormat(i18n.language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const day = new Intl.DateTimeFormat(i18n.language, { weekday: "short", month: "short", day: "numeric" });
  const days = ZOOMS[zoom].step >= ZOOMS.week.step;
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
