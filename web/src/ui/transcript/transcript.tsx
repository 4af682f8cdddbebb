// A log as a conversation: words as prose, calls as rows that unfold, output in its colours. Only what is seen is drawn.
// At its end one follows; who scrolls up has paused it, and is told how much is new.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { useWords } from "@/i18n/use-words";
import { Button } from "@/ui/button";
import { filtered, placeOf, type Filter, type Item } from "./lines";
import { comeTo, marksBefore } from "./matches";
import { useMoves } from "./moves";
import { Row } from "./row";

const GUESSES: Record<Item["kind"], number> = {
  ...{ call: 34, minute: 22, used: 20, words: 48, output: 28, note: 26, trouble: 34 },
};
const LINE_PX = 19;

interface TranscriptProps {
  items: readonly Item[];
  /** Whether more may come. */
  lives: boolean;
  filter?: Filter;
  words?: string;
  /** The line of the match one looks at, and what stands there. */
  current?: { line: number; text: string } | null;
  following: boolean;
  onFollow: (following: boolean) => void;
  className?: string;
}

export function Transcript(given: TranscriptProps) {
  const { items, lives, filter = "all", words = "", current = null, following, onFollow, className = "" } = given;
  const t = useWords();
  const shown = useMemo(() => filtered(items, filter), [items, filter]);
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const box = useRef<HTMLDivElement>(null);
  const at = useMemo(() => (current === null ? -1 : placeOf(shown, current.line, current.text)), [shown, current]);
  const unfolded = shown[at]?.kind === "call" ? shown[at].line : null;
  const onToggle = useCallback((line: number) => {
    setToggled((known) => {
      const next = new Set(known);
      if (!next.delete(line)) next.add(line);
      return next;
    });
  }, []);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => guessOf(shown[index]),
    getItemKey: (index) => `${shown[index]?.line ?? index}${shown[index]?.kind ?? ""}`,
    gap: 6,
    paddingStart: 12,
    paddingEnd: 12,
    overscan: 8,
  });
  const rows = useMemo(() => items.filter((each) => each.kind !== "minute").length, [items]);
  const news = useNews(rows, following);
  useEffect(() => {
    if (following && shown.length > 0) virtual.scrollToIndex(shown.length - 1, { align: "end" });
  }, [following, shown.length, virtual]);
  const line = current?.line ?? -1;
  useEffect(() => {
    if (at < 0) return;
    virtual.scrollToIndex(at, { align: "center" });
    return comeTo(box, at, marksBefore(shown[at], line, words));
  }, [at, line, words, shown, virtual]);
  useMoves(box, onFollow);
  return (
    <div className={`relative flex min-h-0 flex-col ${className}`}>
      <div
        ref={box}
        role="log"
        aria-live="off"
        data-following={following}
        // It is scrolled by keys, too.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto px-2 md:px-4"
      >
        {shown.length === 0 && <p className="py-6 text-center text-soft">{t("log.noneOfThese")}</p>}
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const item = shown[index];
            if (item === undefined) return null;
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={`absolute top-0 left-0 w-full ${index === at ? "rounded-md outline-2 outline-offset-2 outline-amber" : ""}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row
                  item={item}
                  open={toggled.has(item.line) !== (item.line === unfolded)}
                  words={words}
                  {...{ lives, onToggle }}
                />
              </div>
            );
          })}
        </div>
      </div>
      {!following && (
        <Button small className="absolute right-4 bottom-4 shadow-[var(--shadow)]" onClick={() => onFollow(true)}>
          <ArrowDown size={14} aria-hidden />
          {news > 0 ? t("log.news", { count: news }) : t("log.toEnd")}
        </Button>
      )}
    </div>
  );
}

/** How many rows have come since it was paused. */
function useNews(count: number, following: boolean): number {
  const [seen, setSeen] = useState(count);
  if (following && seen !== count) setSeen(count);
  return Math.max(0, count - seen);
}

function guessOf(item: Item | undefined): number {
  if (item === undefined) return 30;
  const text = item.kind === "words" || item.kind === "output";
  return GUESSES[item.kind] + (text ? (item.lines - 1) * LINE_PX : 0);
}
