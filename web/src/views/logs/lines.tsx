// The lines of a log, in blocks that the browser draws only where one looks; at the end while one follows.
import { memo, useEffect, useRef, useState } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";
import { pieces } from "@/views/logs/searching";

const BLOCK = 200;
const MOST_LINES = 20_000;
const NEAR = 40;

interface LinesProps {
  lines: readonly string[];
  words: string;
  wrap: boolean;
  following: boolean;
  /** The line of the match one looks at. */
  current: number | null;
  onScrolled: (bottom: boolean) => void;
}

export function Lines({ lines, words, wrap, following, current, onScrolled }: LinesProps) {
  const { t } = useTranslation("logs");
  const box = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false);
  const cut = all || words !== "" ? 0 : Math.max(0, lines.length - MOST_LINES);
  useEffect(() => {
    if (following) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [following, lines, wrap]);
  useEffect(() => {
    if (current !== null && !following)
      box.current?.querySelector(`[data-line="${current}"]`)?.scrollIntoView({ block: "center" });
  }, [current, following]);
  const hidden = lines.slice(0, cut).reduce((sum, line) => sum + line.length + 1, 0);
  const starts = Array.from({ length: Math.ceil((lines.length - cut) / BLOCK) }, (_, block) => cut + block * BLOCK);
  return (
    <div
      ref={box}
      onWheel={() => onScrolled(isAtBottom(box.current))}
      onTouchMove={() => onScrolled(isAtBottom(box.current))}
      className="min-h-0 flex-1 overflow-auto bg-sunken py-2 font-mono text-[12.5px] leading-[1.55]"
    >
      {cut > 0 && (
        <p className="px-4 pb-2 font-sans text-[13px] text-soft">
          {t("cut", { count: hidden })}{" "}
          <Button small onClick={() => setAll(true)}>
            {t("all")}
          </Button>
        </p>
      )}
      {starts.map((start) => (
        <Block
          key={start}
          start={start}
          text={lines.slice(start, start + BLOCK).join("\n")}
          words={words}
          wrap={wrap}
          current={current !== null && current >= start && current < start + BLOCK ? current : null}
        />
      ))}
    </div>
  );
}

function isAtBottom(box: HTMLElement | null): boolean {
  return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
}

interface BlockProps {
  start: number;
  text: string;
  words: string;
  wrap: boolean;
  current: number | null;
}

const Block = memo(function Block({ start, text, words, wrap, current }: BlockProps) {
  return (
    <div className="[content-visibility:auto]">
      {text.split("\n").map((line, place) => (
        <div
          key={place}
          data-line={start + place}
          className={`flex px-2 md:px-4 ${start + place === current ? "bg-amber-soft" : ""}`}
        >
          <span aria-hidden className="w-12 shrink-0 pr-3 text-right text-faint select-none">
            {start + place + 1}
          </span>
          <span className={`min-w-0 flex-1 ${wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre"}`}>
            {pieces(line, words).map((piece, at) =>
              piece.found ? (
                <mark key={at} className="rounded-sm bg-amber text-paper">
                  {piece.text}
                </mark>
              ) : (
                <span key={at}>{piece.text}</span>
              ),
            )}
          </span>
        </div>
      ))}
    </div>
  );
});
