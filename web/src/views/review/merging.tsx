// Approving: what is merged into which branch, and what to do where the Coordinator could not.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { RequestedChanges, Task, Worktree } from "@/api/model";
import { Hindered, mergeTask } from "@/api/worktrees";
import { TaskChip } from "@/app/task-chip";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Button, Checkbox, Dialog, Form, TextField, useToast } from "@/ui";
import { Figures } from "@/views/review/figures";
import { isInPullRequest, useOpensPullRequests } from "@/views/review/opens-pull-requests";
import { useParts } from "@/views/review/parts";
import { Trouble } from "@/views/review/trouble";

interface MergingProps {
  task: Task;
  work: Worktree;
  unsent: number;
  onClose: () => void;
}

export function Merging({ task, work, unsent, onClose }: MergingProps) {
  const { t } = useTranslation("review");
  const client = useQueryClient();
  const toast = useToast();
  const parts = useParts(task);
  const opens = useOpensPullRequests(task.project_id);
  const again = opens && isInPullRequest(work);
  const go = again ? "pullRequest.again" : opens ? "pullRequest.go" : "merge.go";
  const going = again ? "pullRequest.updating" : opens ? "pullRequest.going" : "merge.going";
  const [{ into, message }, , draft] = useDraft(`merge.${task.task_id}`, { into: "", message: "" });
  const [below, setBelow] = useState(true);
  const [anyway, setAnyway] = useState(false);
  const sentBack = [work, ...(below ? parts.map((each) => each.work) : [])].flatMap(
    (each) => each.changes_requested ?? [],
  );
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);

  async function merge() {
    setBusy(true);
    setFailed(null);
    try {
      const wanted = { below, anyway, ...(into.trim() && { into: into.trim() }), ...(message.trim() && { message }) };
      const { merged, pullRequest } = await mergeTask(task.task_id, wanted);
      const last = merged.at(-1);
      const branch = last?.into ?? (into.trim() || work.base_branch || "");
      draft.done();
      toast.done(
        last
          ? t("merge.done", { into: branch, commit: last.commit.slice(0, 10) })
          : pullRequest !== null
            ? t("pullRequest.done", { number: pullRequest.number })
            : t("merge.already", { into: branch }),
      );
      onClose();
    } catch (error) {
      setFailed(error);
      setBusy(false);
    }
    void client.invalidateQueries({ queryKey: ["worktree"] });
    void client.invalidateQueries({ queryKey: ["worktrees"] });
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={t(!opens ? "merge.title" : again ? "pullRequest.again" : "pullRequest.action")}
      description={task.title}
    >
      <Form onSend={() => void merge()} className="space-y-4">
        <DraftLine draft={draft} />
        {unsent > 0 && (
          <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("merge.unsent", { count: unsent })}</p>
        )}
        {sentBack.length > 0 && <StillChanging changes={sentBack} anyway={anyway} onAnyway={setAnyway} />}
        <section>
          <h3 className="mb-1 text-[13px] font-medium">{t("merge.what")}</h3>
          <ul className="divide-y divide-line rounded-md border border-line">
            {below && parts.map(({ card, work: part }) => <Part key={part.task_id} title={card.title} work={part} />)}
            <Part title={task.title} work={work} />
          </ul>
        </section>
        {parts.length > 0 && (
          <Checkbox label={t("merge.below", { count: parts.length })} checked={below} onChange={setBelow} />
        )}
        <TextField
          label={t("merge.into")}
          value={into}
          onChange={draft.field("into")}
          required={work.base_branch === null}
          help={work.base_branch === null ? t("merge.intoNeeded") : t("merge.intoHelp", { branch: work.base_branch })}
        />
        <TextField
          label={t(opens ? "pullRequest.message" : "merge.message")}
          value={message}
          onChange={draft.field("message")}
          help={t(opens ? "pullRequest.messageHelp" : "merge.messageHelp")}
        />
        {failed !== null && <Trouble error={failed} />}
        {failed instanceof Hindered && failed.anyway && (
          <Checkbox label={t("merge.asItIs")} checked={anyway} onChange={setAnyway} />
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="primary" disabled={busy || (sentBack.length > 0 && !anyway)}>
            {t(busy ? going : go)}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** What was sent back is merged only where somebody says so. */
function StillChanging({
  changes,
  anyway,
  onAnyway,
}: {
  changes: readonly RequestedChanges[];
  anyway: boolean;
  onAnyway: (is: boolean) => void;
}) {
  const { t } = useTranslation("review");
  return (
    <div className="space-y-2 rounded-md bg-amber-soft px-3 py-2 text-amber">
      <p>{t("merge.sentBack", { count: changes.length })}</p>
      <ul className="space-y-1">
        {changes.map((each) => (
          <li key={each.task_id}>
            <TaskChip taskId={each.task_id}>{each.title}</TaskChip>
          </li>
        ))}
      </ul>
      <Checkbox label={t("merge.anyway")} checked={anyway} onChange={onAnyway} />
    </div>
  );
}

function Part({ title, work }: { title: string; work: Worktree }) {
  return (
    <li className="flex items-baseline gap-2 px-3 py-1.5">
      <span className="min-w-0 flex-1 break-words">
        {title}{" "}
        <code data-branch className="font-mono text-xs break-all text-faint">
          {work.branch}
        </code>
      </span>
      <Figures insertions={work.insertions} deletions={work.deletions} />
    </li>
  );
}
