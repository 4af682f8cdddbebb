// One comment below its line: being written, or kept until all are sent.
import { FileDiff } from "lucide-react";
import { useEffect, useRef, type FormEvent, type KeyboardEvent } from "react";

import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, TextArea } from "@/ui";
import { Said } from "@/views/review/said";
import { partsOf, withSuggestion } from "@/views/review/suggestion";

interface WritingProps {
  place: string;
  text: string;
  /** The lines it is about. */
  quote: string;
  /** What they are called, where they are several. */
  about: string | null;
  /** Of lines that are gone nothing can be suggested. */
  suggests: boolean;
  onKeep: (text: string) => void;
  onClose: () => void;
}

export function Writing({ place, text, quote, about, suggests, onKeep, onClose }: WritingProps) {
  const { t } = useTranslation("review");
  const [words, setWords, draft] = useDraft(place, text, { quiet: true });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The user asked to write: focus at once; and afterwards goes on from the line.
    const line = form.current?.closest("tr")?.previousElementSibling?.querySelector<HTMLElement>("[data-line]");
    form.current?.querySelector("textarea")?.focus();
    return () => line?.focus({ preventScroll: true });
  }, []);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (words.trim() === "") return;
    draft.done();
    onKeep(words.trim());
  }
  function pressed(event: KeyboardEvent) {
    if (event.key === "Escape" && !event.nativeEvent.isComposing) onClose();
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.nativeEvent.isComposing) return;
    event.preventDefault(); // Firefox would press Enter once more where the focus then is: on the line, which asks again
    form.current?.requestSubmit();
  }
  return (
    <form
      ref={form}
      onSubmit={submit}
      className="max-w-2xl space-y-2 rounded-md border border-line-strong bg-panel p-3"
    >
      <TextArea label={t("comment.label")} bare value={words} onChange={setWords} rows={3} onKeyDown={pressed} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="flex-1 text-xs text-faint">{about ?? t("comment.range")}</span>
        {suggests && (
          <Button small look="quiet" onClick={() => setWords(withSuggestion(words, quote))}>
            <FileDiff size={14} aria-hidden />
            {t("comment.suggest")}
          </Button>
        )}
        <Button small look="quiet" onClick={onClose}>
          {t("app.cancel")}
        </Button>
        <Button small look="primary" type="submit" disabled={words.trim() === ""}>
          {t("comment.keep")}
        </Button>
      </div>
    </form>
  );
}

interface KeptProps {
  text: string;
  quote: string;
  about: string | null;
  onEdit: () => void;
  onDrop: () => void;
}

export function Kept({ text, quote, about, onEdit, onDrop }: KeptProps) {
  const { t } = useTranslation("review");
  return (
    <div className="max-w-2xl rounded-md border border-accent bg-accent-soft p-3">
      {about !== null && <p className="text-xs text-soft">{about}</p>}
      {partsOf(text).some((each) => each.kind === "suggestion") ? (
        <Said text={text} quote={quote} />
      ) : (
        <p className="break-words whitespace-pre-wrap">{text}</p>
      )}
      <div className="mt-1 flex justify-end gap-1">
        <Button small look="quiet" onClick={onEdit}>
          {t("comment.edit")}
        </Button>
        <Button small look="quiet" onClick={onDrop}>
          {t("comment.drop")}
        </Button>
      </div>
    </div>
  );
}
