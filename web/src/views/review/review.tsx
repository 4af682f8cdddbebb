// The work of a task, before it is merged: its files and lines, comments on them, and what a person decides.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { CircleCheck, FileDiff, GitBranch, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Task, Worktree } from "@/api/model";
import { diff, task as oneTask, worktree } from "@/api/queries";
import { discardWork } from "@/api/worktrees";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { Ago, Bar, Button, Confirm, Empty, Failed, Loading, StatusBadge, useToast } from "@/ui";
import { Asking } from "@/views/review/asking";
import { useComments, type Comments } from "@/views/review/comments";
import { Figures } from "@/views/review/file";
import { Files } from "@/views/review/files";
import { Merging } from "@/views/review/merging";

export function Review() {
  const { t } = useTranslation("review");
  const { taskId = "" } = useParams({ strict: false });
  const task = useQuery(oneTask(taskId));
  const work = useQuery(worktree(taskId));
  const failed = task.error ?? work.error;
  return (
    <>
      <Bar title={t("title")} />
      {task.data !== undefined && work.data !== undefined ? (
        <Work key={taskId} task={task.data} work={work.data} /> // also when it could not be read again: it may be in use
      ) : failed !== null ? (
        <Failed error={failed} retry={() => void Promise.all([task.refetch(), work.refetch()])} />
      ) : (
        <Loading rows={6} />
      )}
    </>
  );
}

function Work({ task, work }: { task: Task; work: Worktree }) {
  const comments = useComments(task.task_id);
  const writes = useWrites();
  return (
    <div className="space-y-4 p-3 sm:p-5">
      <Head task={task} work={work} comments={comments} writes={writes} />
      {work.state === "open" ? <Changes work={work} comments={comments} writes={writes} /> : <Over work={work} />}
    </div>
  );
}

interface HeadProps {
  task: Task;
  work: Worktree;
  comments: Comments;
  writes: boolean;
}

function Head({ task, work, comments, writes }: HeadProps) {
  const { t } = useTranslation("review");
  const open = useOpenTask();
  return (
    <header className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0 space-y-1">
        <button
          type="button"
          onClick={() => open(task.task_id)}
          title={t("open")}
          className="text-left hover:underline"
        >
          <h2 className="text-lg font-semibold break-words">{task.title}</h2>
        </button>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-soft">
          <StatusBadge status={task.status} />
          <span className="inline-flex items-center gap-1.5 font-mono text-xs break-all">
            <GitBranch size={13} aria-hidden />
            {work.branch} → {work.merged_into ?? work.base_branch ?? work.base_commit.slice(0, 10)}
          </span>
          <span>{t("commits", { count: work.commits })}</span>
          <span>{t("files", { count: work.files_changed })}</span>
          <Figures insertions={work.insertions} deletions={work.deletions} />
          <span className="text-faint">
            <Ago at={work.updated_at} />
          </span>
        </p>
        {work.trouble !== null && (
          <p className="rounded-md bg-amber-soft px-3 py-2 break-words text-amber">{work.trouble}</p>
        )}
      </div>
      {writes && work.state === "open" && <Verdict task={task} work={work} comments={comments} />}
    </header>
  );
}

function Verdict({ task, work, comments }: Omit<HeadProps, "writes">) {
  const { t } = useTranslation("review");
  const [asked, setAsked] = useState<"merge" | "changes" | "discard" | null>(null);
  const discard = useDiscarding(task.task_id);
  const close = () => setAsked(null);
  return (
    <div className="flex flex-wrap items-center gap-2">
      {comments.all.length > 0 && (
        <span role="status" className="text-[13px] text-accent">
          {t("comment.kept", { count: comments.all.length })}
        </span>
      )}
      <Button look="danger" onClick={() => setAsked("discard")}>
        <Trash2 size={15} aria-hidden />
        {t("discard.action")}
      </Button>
      <Button onClick={() => setAsked("changes")}>{t("changes.action")}</Button>
      <Button look="primary" onClick={() => setAsked("merge")}>
        <CircleCheck size={15} aria-hidden />
        {t("merge.action")}
      </Button>
      {asked === "merge" && <Merging task={task} work={work} unsent={comments.all.length} onClose={close} />}
      {asked === "changes" && <Asking task={task} comments={comments} onClose={close} />}
      <Confirm
        open={asked === "discard"}
        title={t("discard.title")}
        action={t("discard.go")}
        onConfirm={discard}
        onClose={close}
      >
        {t("discard.text", { branch: work.branch })}
      </Confirm>
    </div>
  );
}

function useDiscarding(taskId: string): () => Promise<void> {
  const { t } = useTranslation("review");
  const client = useQueryClient();
  const toast = useToast();
  return async () => {
    toast.done((await discardWork(taskId)) || t("discard.done"));
    void client.invalidateQueries({ queryKey: ["worktree"] });
    void client.invalidateQueries({ queryKey: ["worktrees"] });
  };
}

function Changes({ work, comments, writes }: { work: Worktree; comments: Comments; writes: boolean }) {
  const { t } = useTranslation("review");
  const asked = useQuery({ ...diff(work.task_id), gcTime: 0 });
  if (asked.data === undefined)
    return asked.error !== null ? (
      <Failed error={asked.error} retry={() => void asked.refetch()} />
    ) : (
      <>
        <p className="text-soft">{t("reading")}</p>
        <Loading rows={6} />
      </>
    );
  if (asked.data.files.length === 0)
    return (
      <Empty icon={<FileDiff size={28} aria-hidden />} title={t("nothing")}>
        {t("nothingText")}
      </Empty>
    );
  return <Files diff={asked.data} comments={comments} writes={writes} />;
}

function Over({ work }: { work: Worktree }) {
  const { t } = useTranslation("review");
  const into = work.merged_into ?? "";
  const which = work.state === "merged" ? "merged" : "discarded";
  return (
    <Empty icon={<FileDiff size={28} aria-hidden />} title={t(`over.${which}`, { into })}>
      {t(`over.${which}Text`, { commit: work.merged_commit?.slice(0, 10) ?? "" })}
    </Empty>
  );
}
