// The line to write on. What is half written is kept for its thread. Enter sends, Shift+Enter begins a line; on a
// phone Enter begins a line and the button sends.
import { SendHorizontal, ShieldCheck } from "lucide-react";
import { useId, type KeyboardEvent } from "react";

import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { consents } from "@/views/chat/consent";
import { say } from "@/views/chat/outbox";
import type { Between } from "@/views/chat/thread";

const MOST = 4000;
const NEARLY = 3500;

export function Composer({ between, name }: { between: Between; name: string }) {
  const { t } = useTranslation("chat");
  const [text, write] = useDraft(`chat.${between.projectId}.${between.agentId}`, "", { quiet: true });
  const hint = useId();
  const length = [...text].length;
  const possible = text.trim() !== "" && length <= MOST;

  function send() {
    if (!possible) return;
    void say(between, text.trim());
    write("");
  }
  function pressed(event: KeyboardEvent) {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    if (matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    send();
  }

  return (
    <div className="shrink-0 border-t border-line bg-paper px-3 pt-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:px-6">
      <div className="mx-auto max-w-3xl">
        <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-panel p-1.5 focus-within:border-accent">
          <textarea
            aria-label={t("write", { name })}
            aria-describedby={hint}
            placeholder={t("placeholder", { name })}
            value={text}
            rows={Math.min(8, Math.max(1, text.split("\n").length))}
            className="max-h-48 min-h-9 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 text-base outline-none placeholder:text-faint md:text-sm"
            onChange={(event) => write(event.target.value)}
            onKeyDown={pressed}
          />
          <button
            type="button"
            aria-label={t("send")}
            title={t("send")}
            disabled={!possible}
            onClick={send}
            className="inline-flex size-10 shrink-0 items-center justify-center rounded-lg bg-accent text-accent-ink hover:brightness-110 disabled:opacity-40 md:size-9"
          >
            <SendHorizontal size={17} aria-hidden />
          </button>
        </div>
        <p id={hint} className="flex min-h-5 items-center gap-1.5 px-2 pt-1 text-xs text-faint">
          {consents(text.trim()) ? (
            <span className="flex items-center gap-1 text-green">
              <ShieldCheck size={13} aria-hidden />
              {t("approves", { name })}
            </span>
          ) : (
            <span className="hidden sm:inline">{t("approvalHint")}</span>
          )}
          {length > NEARLY && (
            <span className={`ml-auto tabular-nums ${length > MOST ? "text-red" : ""}`}>
              {t("length", { count: length, most: MOST })}
            </span>
          )}
        </p>
      </div>
    </div>
  );
}
