// Requests changes: sends all comments and a general remark as one message to the agent.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { mayMove, moveTask, steerTask } from "@/api/actions";
import { isFinal, type Task } from "@/api/model";
import { board } from "@/api/queries";
import { requestChanges } from "@/api/worktrees";
import { useOpenTask } from "@/app/going";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import type { TFunction } from "@/i18n/words";
import { Button, Dialog, Failed, Form, TextArea, useToast } from "@/ui";
import { Said } from "@/views/review/said";
import { MOST_LETTERS, asMessage, type Comment, type Comments } from "@/views/review/comments";

export function Asking({ task, comments, onClose }: { task: Task; comments: Comments; onClose: () => void }) {
  const { t } = useTranslation("review");
  const client = useQueryClient();
  const toast = useToast();
  const open = useOpenTask();
  const [general, setGeneral, draft] = useDraft(`changes.${task.task_id}`, "");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const [key] = useState(() => crypto.randomUUID());
  const closed = isFinal(task);
  const text = asMessage(general, comments.all, (each) => placed(each, t));
  const over = text.length - MOST_LETTERS;

  async function send() {
    setBusy(true);
    setFailed(null);
    try {
      if (closed) await sendBack();
      else toast.done(await tell());
      draft.done();
      comments.clear();
      for (const queryKey of [board(task.project_id).queryKey, ["worktree"], ["worktrees"], ["task", task.task_id]])
        void client.invalidateQueries({ queryKey });
      onClose();
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
  }

  /** A failed task is opened again before it can be told something; one that rests goes on where that is allowed. */
  async function tell(): Promise<string> {
    if (task.status === "failed") await moveTask(task.task_id, "todo");
    const { delivered_to, warnings } = await steerTask(task.task_id, text);
    if (task.status !== "in_progress" && (await mayMove(client, task.task_id, "in_progress")))
      await moveTask(task.task_id, "in_progress");
    return warnings?.[0] ?? t("changes.sent", { who: delivered_to });
  }

  /** Another task makes the changes; this review waits for it. */
  async function sendBack(): Promise<void> {
    const title = t("changes.followUpTitle", { title: task.title }).slice(0, 300);
    const { changes_requested: made, waits } = await requestChanges(task.task_id, { title, text }, key);
    toast.done(t("changes.filed", { title: made.title }), undefined, {
      open: () => open(made.task_id),
      ...(waits === undefined ? {} : { next: waits }),
    });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={t("changes.title")}
      description={t(closed ? "changes.followUp" : "changes.how")}
    >
      <Form onSend={() => void send()} className="space-y-4">
        <DraftLine draft={draft} />
        <TextArea label={t("changes.general")} value={general} onChange={setGeneral} rows={3} />
        {comments.all.length > 0 && (
          <ul className="divide-y divide-line rounded-md border border-line">
            {comments.all.map((each) => (
              <li key={`${each.path} ${each.side} ${each.line}`} className="px-3 py-2">
                <p className="text-xs break-all text-faint">{placed(each, t)}</p>
                <Said text={each.text} quote={each.quote} />
              </li>
            ))}
          </ul>
        )}
        {over > 0 && (
          <p role="alert" className="text-red">
            {t("changes.long", { count: over, most: MOST_LETTERS })}
          </p>
        )}
        {failed !== null && <Failed error={failed} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="primary" disabled={busy || text === "" || over > 0}>
            {t("changes.send")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function placed(each: Comment, t: TFunction): string {
  const { path, side, line, from } = each;
  if (from !== undefined && from < line)
    return t(side === "now" ? "comment.atLines" : "comment.atOldLines", { path, from, line });
  return t(side === "now" ? "comment.at" : "comment.atOld", { path, line });
}
