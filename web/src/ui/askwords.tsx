// Asks for a reason or a message that goes with an action. If the action is refused, the text stays, with the error
// below.
import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "@/ui/button";
import { Failed } from "@/ui/feedback";
import { TextArea } from "@/ui/form";
import { Dialog } from "@/ui/overlay";
import { useTrying } from "@/ui/trying";

interface AskWordsProps {
  title: string;
  label: string;
  action: string;
  /** Without words it cannot be done. */
  required?: boolean;
  danger?: boolean;
  /** What it throws is shown in the dialog, which stays open. */
  onSaid: (words: string) => unknown;
  onClose: () => void;
}

export function AskWords({ title, label, action, required = false, danger = false, onSaid, onClose }: AskWordsProps) {
  const { t } = useTranslation();
  const [words, setWords] = useState("");
  const { busy, refused, attempt } = useTrying(onClose);
  const ready = !busy && (!required || words.trim() !== "");
  function submit(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation(); // React hands it on to a form that the dialog was opened from
    if (ready) void attempt(() => onSaid(words.trim()));
  }
  return (
    <Dialog open onClose={onClose} title={title}>
      <form onSubmit={submit} className="space-y-4">
        <TextArea
          label={label}
          value={words}
          onChange={setWords}
          rows={4}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
          }}
        />
        {refused !== null && <Failed error={refused} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look={danger ? "danger" : "primary"} disabled={!ready}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
