// The work of a task: what was asked, its files and lines, comments on them, and what a person decides. After the merge
// it can still be read.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, FileDiff, GitBranch } from "lucide-react";
import { useState } from "react";

import type { Task, Worktree } from "@/api/model";
import { USUAL_CONTEXT, diff } from "@/api/diffs";
import { task as oneTask, worktree } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useExtraWide } from "@/app/narrow";
import { PullRequestLink } from "@/app/pull-request";
import { Link, useParams } from "@/app/routing";
import { SentBack } from "@/app/sent-back";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Empty, Failed, Loading, StatusIcon } from "@/ui";
import { About } from "@/views/review/about";
import { useComments, type Comments } from "@/views/review/comments";
import { Figures } from "@/views/review/figures";
import { Files } from "@/views/review/files";
import { VerdictBar } from "@/views/review/verdict";

export function Review() {
  const { t } = useTranslation("review");
  const { projectId = "", taskId = "" } = useParams();
  const task = useQuery(oneTask(taskId));
  const work = useQuery(worktree(taskId));
  const failed = task.error ?? work.error;
  return (
    <>
      <Bar title={t("title")} name={task.data?.title ?? t("title")}>
        <Link
          to="/p/$projectId/review"
          params={{ projectId }}
          title={t("all")}
          className="inline-flex shrink-0 items-center gap-0.5 text-[13px] text-soft hover:text-ink max-sm:-my-2 max-sm:size-9 max-sm:justify-center"
        >
          <ChevronLeft size={14} aria-hidden />
          <span className="max-sm:sr-only">{t("all")}</span>
        </Link>
      </Bar>
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
  const wide = useExtraWide();
  // What somebody has written is not lost because somebody else has merged the work.
  const remarks = writes && (work.state === "open" || comments.all.length > 0);
  return (
    <div className="flex min-h-full flex-col">
      <VerdictBar task={task} work={work} comments={comments} writes={writes}>
        <Head task={task} work={work} />
      </VerdictBar>
      <div className="flex flex-1 flex-col gap-4 p-3 sm:px-5 xl:flex-row xl:items-start">
        {!wide && <About task={task} wide={false} />}
        <div className="min-w-0 flex-1 space-y-3">
          <Facts work={work} unsent={writes ? comments.all.length : 0} />
          {work.state === "discarded" ? <Discarded /> : <Changes work={work} comments={comments} writes={remarks} />}
        </div>
        {wide && <About task={task} wide />}
      </div>
    </div>
  );
}

function Head({ task, work }: { task: Task; work: Worktree }) {
  const { t } = useTranslation("review");
  const open = useOpenTask();
  return (
    <div className="flex min-w-0 items-center gap-2">
      <StatusIcon status={task.status} />
      <button
        type="button"
        onClick={() => open(task.task_id)}
        title={`${t("open")}: ${task.title}`}
        className="min-w-0 text-left hover:underline"
      >
        <h2 className="truncate font-semibold">{task.title}</h2>
      </button>
      <span className="hidden text-xs whitespace-nowrap text-soft lg:inline">
        {t("files", { count: work.files_changed })}
      </span>
      <Figures insertions={work.insertions} deletions={work.deletions} />
    </div>
  );
}

/** Where it is, and what blocks it or became of it. */
function Facts({ work, unsent }: { work: Worktree; unsent: number }) {
  const { t } = useTranslation("review");
  const into = work.merged_into ?? work.base_branch ?? work.base_commit.slice(0, 10);
  return (
    <div className="space-y-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-soft">
        <span data-branch className="inline-flex items-center gap-1.5 font-mono break-all">
          <GitBranch size={13} aria-hidden />
          {work.branch} → {into}
        </span>
        <span>{t("commits", { count: work.commits })}</span>
      </p>
      {work.pull_request !== null && <PullRequestLink of={work.pull_request} />}
      {work.changes_requested !== null && <SentBack changes={work.changes_requested} />}
      {work.state === "merged" && (
        <p role="status" className="rounded-md bg-green-soft px-3 py-2 text-green">
          {t("over.merged", { into })}{" "}
          <code className="font-mono text-xs">{work.merged_commit?.slice(0, 10) ?? ""}</code>
        </p>
      )}
      {work.state !== "open" && unsent > 0 && (
        <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("over.unsent", { count: unsent })}</p>
      )}
      {work.trouble !== null && (
        <p className="rounded-md bg-amber-soft px-3 py-2 break-words text-amber">{work.trouble}</p>
      )}
    </div>
  );
}

function Changes({ work, comments, writes }: { work: Worktree; comments: Comments; writes: boolean }) {
  const { t } = useTranslation("review");
  // What was read stays where it is when the work is merged: the files are the same.
  const [context, setContext] = useState(USUAL_CONTEXT);
  const asked = useQuery({ ...diff(work.task_id, context), gcTime: 0, placeholderData: keepPreviousData });
  if (asked.data === undefined)
    return asked.error !== null ? (
      <Failed error={toldBy(asked.error, t("noAnswer"))} retry={() => void asked.refetch()} />
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
  return <Files taskId={work.task_id} diff={asked.data} {...{ comments, writes, context, setContext }} />;
}

/** A Coordinator that has left says nothing. */
const toldBy = (error: Error, silence: string): Error => (error.message === "" ? new Error(silence) : error);

function Discarded() {
  const { t } = useTranslation("review");
  return (
    <Empty icon={<FileDiff size={28} aria-hidden />} title={t("over.discarded")}>
      {t("over.discardedText")}
    </Empty>
  );
}
