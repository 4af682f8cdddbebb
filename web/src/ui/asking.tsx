// Asks for a reason or a message that goes with an action. If the action is refused, the text stays, with the error
// below.

import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui/button";
import { Failed } from "@/ui/feedback";
import { TextArea } from "@/ui/form";
import { Dialog } from "@/ui/dialog";
import { Form } from "@/ui/sent";
import { useTrying } from "@/ui/trying";

export interface AskWordsProps {
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
  const [words, setWords, draft] = useDraft(`words.${title}`, "");
  const { busy, refused, attempt } = useTrying(() => {
    draft.done();
    onClose();
  });
  const ready = !busy && (!required || words.trim() !== "");
  return (
    <Dialog open onClose={onClose} title={title}>
      <Form onSend={() => ready && void attempt(() => onSaid(words.trim()))} className="space-y-4">
        <DraftLine draft={draft} />
        <TextArea label={label} value={words} onChange={setWords} rows={4} />
        {refused !== null && <Failed error={refused} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look={danger ? "danger" : "primary"} disabled={!ready}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
