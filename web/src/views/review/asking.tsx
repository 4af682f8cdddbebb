// Requests changes: sends all comments and a general remark as one message to the agent.
import { useQueryClient } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";

import { fileTask, mayMove, moveTask, steerTask } from "@/api/actions";
import { isFinal, type Task } from "@/api/model";
import { board } from "@/api/queries";
import { Button, Dialog, Failed, TextArea, useToast } from "@/ui";
import { MOST_LETTERS, asMessage, type Comment, type Comments } from "@/views/review/comments";

export function Asking({ task, comments, onClose }: { task: Task; comments: Comments; onClose: () => void }) {
  const { t } = useTranslation("review");
  const client = useQueryClient();
  const toast = useToast();
  const [general, setGeneral] = useState("");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const [key] = useState(() => crypto.randomUUID());
  const closed = isFinal(task);
  const text = asMessage(general, comments.all, (each) => placed(each, t));
  const over = text.length - MOST_LETTERS;

  async function send(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setFailed(null);
    try {
      if (closed) toast.done(t("changes.filed", { title: await followUp() }));
      else toast.done(await tell());
      comments.clear();
      void client.invalidateQueries({ queryKey: board(task.project_id).queryKey });
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

  /** It depends on this task, so it starts from what that has changed. */
  async function followUp(): Promise<string> {
    const wanted = {
      title: t("changes.followUpTitle", { title: task.title }).slice(0, 300),
      description: `${t("changes.begin")} ${task.task_id}\n\n${text}`,
      assignee_id: task.assignee_id,
      priority: task.priority,
      parent_task_id: null,
      dependencies: [task.task_id],
      status: "in_progress" as const,
    };
    return (await fileTask(task.project_id, wanted, key)).task.title;
  }

  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={t("changes.title")}
      description={t(closed ? "changes.followUp" : "changes.how")}
    >
      <form onSubmit={(event) => void send(event)} className="space-y-4">
        <TextArea label={t("changes.general")} value={general} onChange={setGeneral} rows={3} />
        {comments.all.length > 0 && (
          <ul className="divide-y divide-line rounded-md border border-line">
            {comments.all.map((each) => (
              <li key={`${each.path} ${each.side} ${each.line}`} className="px-3 py-2">
                <p className="text-xs break-all text-faint">{placed(each, t)}</p>
                <code className="block truncate font-mono text-[13px] text-soft">{each.quote}</code>
                <p className="break-words whitespace-pre-wrap">{each.text}</p>
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
      </form>
    </Dialog>
  );
}

function placed(each: Comment, t: TFunction<"review">): string {
  return t(each.side === "now" ? "comment.at" : "comment.atOld", { path: each.path, line: each.line });
}
