// What people ask a Coordinator to do with the files of a task: an errand is sent, and its answer waited for.
import { Refused, get, send } from "@/api/client";
import type { Diff, Errand } from "@/api/model";

const ONE_LOOK_SECONDS = 45;
const LOOKS = 4;
/** A task is completed a moment before its process has left: whoever asks then need not ask twice. */
const LEAVES_WITHIN = 10;

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
  const errandId = await asked(`/tasks/${encodeURIComponent(taskId)}/worktree/${what}`, body, signal);
  const errand = await answered<Answer & MergeAnswer>(errandId, signal);
  if (errand.answer === null || !errand.done) throw hindered(errand);
  return errand.answer;
}

async function asked(path: string, body: object, signal?: AbortSignal): Promise<string> {
  for (let tries = 1; ; tries++)
    try {
      return (await send<{ errand_id: string }>("POST", path, { body, signal })).errand_id;
    } catch (error) {
      if (!(error instanceof Refused) || error.problem["leaving"] !== true || tries > LEAVES_WITHIN) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, 1000));
    }
}

async function answered<Answer>(errandId: string, signal?: AbortSignal): Promise<Errand<Answer>> {
  for (let look = 1; ; look++) {
    const path = `/errands/${encodeURIComponent(errandId)}`;
    const { errand } = await get<{ errand: Errand<Answer> }>(path, { wait_seconds: ONE_LOOK_SECONDS }, signal);
    if (errand.finished_at !== null || look === LOOKS) return errand;
  }
}

function hindered(errand: Errand<MergeAnswer>): Hindered {
  const { trouble, conflict, merged } = errand.answer ?? {};
  return new Hindered(trouble ?? "", conflict ?? [], merged ?? []);
}
