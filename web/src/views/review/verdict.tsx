// What one decides about the work: always in sight, and each button always at its place. At the top, on a phone at the
// bottom, under the thumb.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, CircleCheck, ListPlus, ListX, MessageSquareReply, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";

import { addToMergeQueue, removeFromMergeQueue } from "@/api/actions";
import type { Task, Worktree } from "@/api/model";
import { mergeQueue } from "@/api/queries";
import { discardWork } from "@/api/worktrees";
import { useKeys } from "@/app/keys";
import { navigate } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, Confirm, useToast } from "@/ui";
import { Asking } from "@/views/review/asking";
import type { Comments } from "@/views/review/comments";
import { Merging } from "@/views/review/merging";
import { isInPullRequest, useOpensPullRequests } from "@/views/review/opens-pull-requests";
import { useNextReview } from "@/views/review/waiting";

interface VerdictProps {
  task: Task;
  work: Worktree;
  comments: Comments;
  writes: boolean;
  children: ReactNode;
}

export function VerdictBar({ task, work, comments, writes, children }: VerdictProps) {
  const { t } = useTranslation("review");
  const judges = writes && work.state === "open";
  return (
    <div
      data-verdict
      className="sticky bottom-0 z-20 order-last flex min-h-13 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-paper px-3 py-2 sm:top-0 sm:bottom-auto sm:order-first sm:flex-nowrap sm:border-t-0 sm:border-b sm:px-5"
    >
      <div className="min-w-0 flex-1">{children}</div>
      <span role="status" className="sr-only">
        {comments.all.length > 0 && t("comment.kept", { count: comments.all.length })}
      </span>
      <Next task={task} look={judges ? "quiet" : "primary"} />
      {judges && <Verdict task={task} work={work} comments={comments} />}
      {writes && !judges && comments.all.length > 0 && <Afterwards task={task} comments={comments} />}
    </div>
  );
}

type Asked = "merge" | "changes" | "discard";

function Verdict({ task, work, comments }: Omit<VerdictProps, "writes" | "children">) {
  const { t } = useTranslation("review");
  const [asked, setAsked] = useState<Asked | null>(null);
  const discard = useDiscarding(task.task_id);
  const opens = useOpensPullRequests(task.project_id);
  const approve = t(!opens ? "merge.action" : isInPullRequest(work) ? "pullRequest.again" : "pullRequest.action");
  const close = () => setAsked(null);
  useKeys([
    { key: "a", words: approve, run: () => setAsked("merge") },
    { key: "r", words: t("changes.action"), run: () => setAsked("changes") },
  ]);
  return (
    <div className="flex w-full shrink-0 items-center gap-2 sm:w-auto">
      <Button
        look="danger"
        aria-label={t("discard.action")}
        title={t("discard.action")}
        className="max-sm:w-11"
        onClick={() => setAsked("discard")}
      >
        <Trash2 size={15} aria-hidden />
        <span className="hidden sm:inline">{t("discard.action")}</span>
      </Button>
      <Button
        className="max-sm:min-w-0 max-sm:flex-1 max-sm:basis-0 max-sm:px-1 max-sm:text-[13px]"
        onClick={() => setAsked("changes")}
      >
        <MessageSquareReply size={15} aria-hidden className="max-sm:hidden" />
        {t("changes.action")} <Count of={comments.all.length} />
      </Button>
      <Queueing task={task} work={work} />
      <Button
        look="primary"
        className="max-sm:min-w-0 max-sm:flex-1 max-sm:basis-0 max-sm:px-1 max-sm:text-[13px] max-sm:leading-tight max-sm:whitespace-normal"
        onClick={() => setAsked("merge")}
      >
        <CircleCheck size={15} aria-hidden className="max-sm:hidden" />
        {approve}
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

/** Where the project has a merge queue: into it, and out of it again. */
function Queueing({ task, work }: Pick<VerdictProps, "task" | "work">) {
  const { t } = useTranslation("review");
  const client = useQueryClient();
  const toast = useToast();
  const mode = useQuery(mergeQueue(task.project_id)).data?.mode ?? "off";
  const queued = work.review === "in_merge_queue";
  const may = queued || (mode !== "off" && work.review === "to_review");
  const said = queued ? t("queue.remove") : t("queue.add");
  const change = async () => {
    try {
      await (queued ? removeFromMergeQueue(task.task_id) : addToMergeQueue(task.task_id));
      toast.done(queued ? t("queue.removed") : t("queue.added"));
    } catch (error) {
      toast.failed(error);
    }
    for (const key of ["worktree", "worktrees", "merge-queue"]) void client.invalidateQueries({ queryKey: [key] });
  };
  useKeys(may ? [{ key: "q", words: said, run: () => void change() }] : []);
  if (!may) return null;
  return (
    <Button aria-label={said} title={said} className="max-sm:w-11" onClick={() => void change()}>
      {queued ? <ListX size={15} aria-hidden /> : <ListPlus size={15} aria-hidden />}
      <span className="hidden lg:inline">{said}</span>
    </Button>
  );
}

/** Somebody else has merged it while one wrote: what was written can still be sent. */
function Afterwards({ task, comments }: Pick<VerdictProps, "task" | "comments">) {
  const { t } = useTranslation("review");
  const [asked, setAsked] = useState(false);
  useKeys([{ key: "r", words: t("changes.action"), run: () => setAsked(true) }]);
  return (
    <>
      <Button className="max-sm:w-full" onClick={() => setAsked(true)}>
        <MessageSquareReply size={15} aria-hidden className="max-sm:hidden" />
        {t("changes.action")} <Count of={comments.all.length} />
      </Button>
      {asked && <Asking task={task} comments={comments} onClose={() => setAsked(false)} />}
    </>
  );
}

/** Its place is kept where there are none: no button moves when the first comment is written. */
function Count({ of }: { of: number }) {
  return (
    <span className={`text-left sm:min-w-6 tabular-nums ${of === 0 ? "invisible" : ""}`}>
      {of === 0 ? "(0)" : `(${of})`}
    </span>
  );
}

/** The next one that waits, if there is one. */
function Next({ task, look }: { task: Task; look: "primary" | "quiet" }) {
  const { t } = useTranslation("review");
  const next = useNextReview(task.project_id, task.task_id);
  const go = () => {
    if (next === undefined) return;
    const params = { projectId: next.project_id, taskId: next.task_id };
    void navigate({ to: "/p/$projectId/review/$taskId", params });
  };
  useKeys(next === undefined ? [] : [{ key: "]", words: t("next"), run: go }]);
  if (next === undefined) return null;
  return (
    <Button
      look={look}
      onClick={go}
      title={next.title}
      aria-label={`${t("next")}: ${next.title}`}
      className={look === "quiet" ? "max-sm:h-7 max-sm:w-11" : ""}
    >
      <span className={look === "quiet" ? "hidden xl:inline" : ""}>{t("next")}</span>
      <ArrowRight size={15} aria-hidden />
    </Button>
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
