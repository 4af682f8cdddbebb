// What people ask a Coordinator to do with the files of a task: a worktree job is sent, and its answer waited for.
import { Refused, get, send } from "@/api/client";
import type { Diff, WorktreeJob } from "@/api/model";

const ONE_LOOK_SECONDS = 45;
const LOOKS = 4;
/** A task is completed shortly before its process exits: the request waits, so that nobody has to ask twice; in seconds,
 * as long as the server waits for the exit. */
const LEAVES_WITHIN = 30;

/** The Coordinator did not do it: why, and the next step, in its own words. */
export class Hindered extends Error {
  constructor(
    message: string,
    readonly conflict: readonly string[],
    readonly merged: readonly MergedOne[],
  ) {
    super(message);
  }
}

export interface MergedOne {
  task_id: string;
  commit: string;
  into: string;
}

interface MergeAnswer {
  merged?: MergedOne[];
  conflict?: string[];
  message?: string;
}

export interface MergeWanted {
  below: boolean;
  into?: string;
  message?: string;
}

export async function askDiff(taskId: string, signal?: AbortSignal): Promise<Diff> {
  return (await carriedOut<Diff>(taskId, "diff", {}, signal)) as Diff;
}

export async function mergeTask(taskId: string, wanted: MergeWanted): Promise<MergedOne[]> {
  return (await carriedOut<MergeAnswer>(taskId, "merge", wanted)).merged ?? [];
}

/** What to do to get the work back. */
export async function discardWork(taskId: string): Promise<string> {
  return (await carriedOut<MergeAnswer>(taskId, "discard", {})).message ?? "";
}

async function carriedOut<Answer>(taskId: string, what: string, body: object, signal?: AbortSignal): Promise<Answer> {
  const jobId = await asked(`/tasks/${encodeURIComponent(taskId)}/worktree/${what}`, body, signal);
  const worktreeJob = await answered<Answer & MergeAnswer>(jobId, signal);
  if (worktreeJob.answer === null || !worktreeJob.done) throw hindered(worktreeJob);
  return worktreeJob.answer;
}

async function asked(path: string, body: object, signal?: AbortSignal): Promise<string> {
  for (let tries = 1; ; tries++)
    try {
      return (await send<{ job_id: string }>("POST", path, { body, signal })).job_id;
    } catch (error) {
      if (!(error instanceof Refused) || error.problem["leaving"] !== true || tries > LEAVES_WITHIN) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, 1000));
    }
}

async function answered<Answer>(jobId: string, signal?: AbortSignal): Promise<WorktreeJob<Answer>> {
  for (let look = 1; ; look++) {
    const path = `/worktree-jobs/${encodeURIComponent(jobId)}`;
    const { worktree_job: worktreeJob } = await get<{ worktree_job: WorktreeJob<Answer> }>(
      path,
      { wait_seconds: ONE_LOOK_SECONDS },
      signal,
    );
    if (worktreeJob.finished_at !== null || look === LOOKS) return worktreeJob;
  }
}

function hindered(worktreeJob: WorktreeJob<MergeAnswer>): Hindered {
  const { trouble, conflict, merged } = worktreeJob.answer ?? {};
  return new Hindered(trouble ?? "", conflict ?? [], merged ?? []);
}
