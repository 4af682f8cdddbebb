// What people ask a Coordinator to do with the files of a task: a worktree job is sent, and its answer waited for.
import { Refused, api } from "@/api/client";
import type { Diff, MergedWork, PullRequest, WorktreeJob } from "@/api/model";
import { ofTask, type BodyOf } from "@/api/routes";

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
    readonly merged: readonly MergedWork[],
    /** Whether it is merged anyway if a person says so. */
    readonly anyway = false,
  ) {
    super(message);
  }
}

export type MergeWanted = BodyOf<"post", "/tasks/{task_id}/worktree/merge">;

export async function askDiff(taskId: string, context: number, signal?: AbortSignal): Promise<Diff> {
  const answer = await carriedOut(
    () => api.post("/tasks/{task_id}/worktree/diff", { ...ofTask(taskId), body: { context }, signal }),
    signal,
  );
  if (!("patch" in answer)) throw hindered(answer);
  return answer;
}

/** What is merged now; or the pull request that was opened instead. */
export interface Approved {
  merged: MergedWork[];
  pullRequest: PullRequest | null;
}

export async function mergeTask(taskId: string, body: MergeWanted): Promise<Approved> {
  const answer = await carriedOut(() => api.post("/tasks/{task_id}/worktree/merge", { ...ofTask(taskId), body }));
  if ("patch" in answer) return { merged: [], pullRequest: null };
  return { merged: answer.merged ?? [], pullRequest: answer.pull_request ?? null };
}

/** Files the task that makes the changes. */
export function requestChanges(taskId: string, body: { title: string; text: string }, idempotencyKey: string) {
  return api.post("/tasks/{task_id}/worktree/changes", { ...ofTask(taskId), body, idempotencyKey });
}

/** What to do to get the work back. */
export async function discardWork(taskId: string): Promise<string> {
  const answer = await carriedOut(() => api.post("/tasks/{task_id}/worktree/discard", ofTask(taskId)));
  return ("message" in answer && answer.message) || "";
}

type Told = NonNullable<WorktreeJob["answer"]>;

async function carriedOut(send: () => Promise<{ job_id: string }>, signal?: AbortSignal): Promise<Told> {
  const { answer, done } = await answered(await asked(send), signal);
  if (answer === null || !done) throw hindered(answer);
  return answer;
}

async function asked(send: () => Promise<{ job_id: string }>): Promise<string> {
  for (let tries = 1; ; tries++)
    try {
      return (await send()).job_id;
    } catch (error) {
      if (!(error instanceof Refused) || error.problem["leaving"] !== true || tries > LEAVES_WITHIN) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, 1000));
    }
}

async function answered(jobId: string, signal?: AbortSignal): Promise<WorktreeJob> {
  for (let look = 1; ; look++) {
    const how = { path: { job_id: jobId }, query: { wait_seconds: ONE_LOOK_SECONDS }, signal };
    const { worktree_job: job } = await api.get("/worktree-jobs/{job_id}", how);
    if (job.finished_at !== null || look === LOOKS) return job;
  }
}

function hindered(answer: Told | null): Hindered {
  if (answer === null || "patch" in answer) return new Hindered(answer?.trouble ?? "", [], []);
  return new Hindered(answer.trouble ?? "", answer.conflict ?? [], answer.merged ?? [], answer.anyway);
}
