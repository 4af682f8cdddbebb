// A command or an id that one takes along: one press copies it; where the browser does not let us, it is selected.
import { Check, Copy } from "lucide-react";
import { useRef, useState } from "react";

import { useTranslation } from "@/i18n/use-words";

const SHOWN_MS = 1600;

export function Copyable({ text }: { text: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const words = useRef<HTMLElement>(null);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      window.setTimeout(() => setCopied(false), SHOWN_MS);
    } catch {
      if (words.current !== null) window.getSelection()?.selectAllChildren(words.current);
    }
  }
  return (
    <span data-how-to className="inline-flex max-w-full items-center rounded-md border border-line bg-sunken">
      <code ref={words} className="overflow-x-auto px-2.5 py-1.5 font-mono text-[13px] whitespace-nowrap select-all">
        {text}
      </code>
      <button
        type="button"
        onClick={() => void copy()}
        aria-label={t("app.copy", { text })}
        title={t("app.copy", { text })}
        className="inline-flex size-8 shrink-0 items-center justify-center border-l border-line text-soft hover:text-ink"
      >
        {copied ? <Check size={14} className="text-green" aria-hidden /> : <Copy size={14} aria-hidden />}
      </button>
      <span role="status" className="sr-only">
        {copied ? t("app.copied") : ""}
      </span>
    </span>
  );
}
