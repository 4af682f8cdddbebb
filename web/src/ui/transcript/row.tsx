// One row of a log as a conversation.
import { CircleAlert, Info } from "lucide-react";
import { memo } from "react";

import { useWords } from "@/i18n/use-words";
import { language } from "@/i18n/words";
import { compact } from "@/ui/amounts";
import { Prose } from "@/ui/prose";
import { Ansi, Found } from "./ansi";
import { CallRow } from "./call";
import type { Item } from "./lines";
import { usedOf } from "./telling";

interface RowProps {
  item: Item;
  open: boolean;
  lives: boolean;
  words: string;
  onToggle: (line: number) => void;
}

export const Row = memo(function Row({ item, open, lives, words, onToggle }: RowProps) {
  switch (item.kind) {
    case "call":
      return <CallRow call={item} {...{ open, lives, words }} onToggle={() => onToggle(item.line)} />;
    case "minute":
      return <Minute at={item.at} />;
    case "used":
      return <Used text={item.text} />;
    case "words":
      return (
        <div className="max-w-[90ch] px-1 py-1" dir="auto">
          {words !== "" && item.text.toLowerCase().includes(words.toLowerCase()) ? (
            <p className="break-words whitespace-pre-wrap">
              <Found text={item.text} words={words} />
            </p>
          ) : (
            <Prose text={item.text} />
          )}
        </div>
      );
    case "output":
      return (
        <pre className="rounded-md bg-sunken px-2 py-1 font-mono text-[12.5px] leading-[1.55] break-words whitespace-pre-wrap">
          <Ansi text={item.text} words={words} />
        </pre>
      );
    default:
      return <Note text={item.text} trouble={item.kind === "trouble"} words={words} />;
  }
});

function Note({ text, trouble, words }: { text: string; trouble: boolean; words: string }) {
  const Sign = trouble ? CircleAlert : Info;
  return (
    <p
      data-trouble={trouble || undefined}
      className={`flex gap-2 px-2 text-[13px] ${trouble ? "rounded-md bg-red-soft py-1 text-red" : "text-faint"}`}
    >
      <Sign size={14} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 break-words">
        <Found text={text} words={words} />
      </span>
    </p>
  );
}

function Minute({ at }: { at: number }) {
  const time = new Date(at);
  return (
    <div className="flex items-center gap-2 text-[11px] text-faint tabular-nums">
      <span aria-hidden className="h-px flex-1 bg-line" />
      <time dateTime={time.toISOString()} title={time.toLocaleString(language())}>
        {time.toLocaleTimeString(language(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}
      </time>
      <span aria-hidden className="h-px flex-1 bg-line" />
    </div>
  );
}

function Used({ text }: { text: string }) {
  const t = useWords();
  const { read, written, cached, cost } = usedOf(text);
  const number = (count: number) => compact(count, language());
  return (
    <p className="px-1 text-right text-[11px] text-faint tabular-nums">
      {[
        t("log.tokens", { read: number(read), written: number(written) }),
        ...(cached > 0 ? [t("log.cached", { cached: number(cached) })] : []),
        ...(cost === null ? [] : [cost]),
      ].join(" · ")}
    </p>
  );
}
