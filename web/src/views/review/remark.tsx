// One comment below its line: being written, or kept until all are sent.
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";

import { Button, TextArea } from "@/ui";

interface WritingProps {
  text: string;
  onKeep: (text: string) => void;
  onClose: () => void;
}

export function Writing({ text, onKeep, onClose }: WritingProps) {
  const { t } = useTranslation("review");
  const [words, setWords] = useState(text);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("textarea")?.focus(), []); // the user asked to write: focus at once
  function submit(event: FormEvent) {
    event.preventDefault();
    if (words.trim() !== "") onKeep(words.trim());
  }
  function pressed(event: KeyboardEvent) {
    if (event.key === "Escape") onClose();
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.current?.requestSubmit();
  }
  return (
    <form
      ref={form}
      onSubmit={submit}
      className="max-w-2xl space-y-2 rounded-md border border-line-strong bg-panel p-3"
    >
      <TextArea label={t("comment.label")} bare value={words} onChange={setWords} rows={3} onKeyDown={pressed} />
      <div className="flex justify-end gap-2">
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

export function Kept({ text, onEdit, onDrop }: { text: string; onEdit: () => void; onDrop: () => void }) {
  const { t } = useTranslation("review");
  return (
    <div className="max-w-2xl rounded-md border border-accent bg-accent-soft p-3">
      <p className="break-words whitespace-pre-wrap">{text}</p>
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
