// The merge queue of a project: what waits to be merged, in order, what became of the last entries, and why. People
// reorder it by buttons and keys, pause it and remove entries.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, GitMerge, Pause, Play, TriangleAlert, X } from "lucide-react";
import { useRef, useState } from "react";

import { moveInMergeQueue, pauseMergeQueue, removeFromMergeQueue, resumeMergeQueue } from "@/api/actions";
import type { MergeQueue, MergeQueueEntry } from "@/api/model";
import { mergeQueue } from "@/api/queries";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { Link } from "@/app/routing";
import { TaskChip } from "@/app/task-chip";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Button, CheckResults, IconButton, Panel, useToast, type Tone } from "@/ui";
import { useCheckWords } from "@/views/review/check-words";

const TONES: Record<MergeQueueEntry["state"], Tone> = {
  queued: "plain",
  checking: "blue",
  merged: "green",
  failed: "red",
  conflict: "red",
  removed: "plain",
};
const SHOWN_ENDED = 5;

export function Queue({ projectId }: { projectId: string }) {
  const queue = useQuery(mergeQueue(projectId)).data;
  if (queue === undefined || (queue.mode === "off" && queue.entries.length === 0)) return null;
  return <Shown queue={queue} />;
}

function Shown({ queue }: { queue: MergeQueue }) {
  const { t } = useTranslation("review");
  const writes = useWrites();
  const names = useNames("");
  const ended = queue.ended.slice(0, SHOWN_ENDED);
  const paused = queue.paused_at !== null;
  return (
    <Panel title={t("queue.title")} aside={<Badge>{queue.entries.length}</Badge>}>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2 text-[13px]">
        <p className="min-w-0 flex-1 text-soft">
          {paused
            ? t("queue.paused", { who: names.agent(queue.paused_by ?? "") })
            : queue.entries.length === 0
              ? t(`queue.empty.${queue.mode}`)
              : t("queue.how", { count: queue.batch_size })}
          {queue.required_checks === 0 && ` ${t("queue.noChecks")}`}
        </p>
        {writes && <PauseButton queue={queue} paused={paused} />}
      </div>
      <Entries queue={queue} writes={writes} />
      {ended.length > 0 && (
        <details className="border-t border-line">
          <summary className="cursor-pointer px-4 py-2 text-[13px] text-soft">{t("queue.ended")}</summary>
          <ul className="divide-y divide-line border-t border-line" aria-label={t("queue.ended")}>
            {ended.map((each) => (
              <li key={each.entry_id} className="px-4 py-2.5">
                <About entry={each} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

function PauseButton({ queue, paused }: { queue: MergeQueue; paused: boolean }) {
  const { t } = useTranslation("review");
  const carryOut = useCarryingOut(queue.project_id);
  const change = paused ? resumeMergeQueue : pauseMergeQueue;
  return (
    <Button small onClick={() => void carryOut(() => change(queue.project_id))}>
      {paused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
      {paused ? t("queue.resume") : t("queue.pause")}
    </Button>
  );
}

function Entries({ queue, writes }: { queue: MergeQueue; writes: boolean }) {
  const { t } = useTranslation("review");
  const carryOut = useCarryingOut(queue.project_id);
  const list = useRef<HTMLOListElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const movable = queue.entries.filter((each) => each.state === "queued");
  const at = movable.findIndex((each) => each.task_id === focused);
  const move = async (entry: MergeQueueEntry, by: -1 | 1) => {
    const place = movable.indexOf(entry);
    const before = by === -1 ? movable[place - 1] : movable[place + 2];
    if (place + by < 0 || place + by >= movable.length) return;
    await carryOut(() => moveInMergeQueue(entry.task_id, before?.task_id));
    list.current?.querySelector<HTMLElement>(`[data-entry="${entry.task_id}"] a`)?.focus();
  };
  const keyed = writes ? movable[at] : undefined;
  useKeys(
    keyed === undefined
      ? []
      : [
          { key: "K", words: t("queue.earlier"), first: true, run: () => void move(keyed, -1) },
          { key: "J", words: t("queue.later"), first: true, run: () => void move(keyed, 1) },
        ],
  );
  return (
    <ol ref={list} className="divide-y divide-line" aria-label={t("queue.title")}>
      {queue.entries.map((each) => {
        const place = movable.indexOf(each);
        return (
          <li
            key={each.entry_id}
            data-entry={each.task_id}
            onFocus={() => setFocused(each.task_id)}
            onBlur={() => setFocused(null)}
            aria-keyshortcuts={place === -1 ? undefined : "Shift+K Shift+J"}
            className="flex items-start gap-2 px-4 py-2.5 focus-within:bg-sunken/50"
          >
            <span className="w-6 shrink-0 pt-0.5 text-right text-xs text-faint tabular-nums">{each.place}</span>
            <About entry={each} />
            {writes && (
              <span className="flex shrink-0">
                <IconButton
                  label={`${t("queue.earlier")}: ${each.title}`}
                  disabled={place <= 0}
                  onClick={() => void move(each, -1)}
                >
                  <ArrowUp size={15} />
                </IconButton>
                <IconButton
                  label={`${t("queue.later")}: ${each.title}`}
                  disabled={place === -1 || place === movable.length - 1}
                  onClick={() => void move(each, 1)}
                >
                  <ArrowDown size={15} />
                </IconButton>
                <IconButton
                  label={`${t("queue.remove")}: ${each.title}`}
                  disabled={each.removal_by !== null}
                  onClick={() => void carryOut(() => removeFromMergeQueue(each.task_id))}
                >
                  <X size={15} />
                </IconButton>
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function About({ entry }: { entry: MergeQueueEntry }) {
  const { t } = useTranslation("review");
  const words = useCheckWords();
  const state = entry.removal_by !== null && entry.state === "checking" ? "removing" : entry.state;
  return (
    <div className="min-w-0 flex-1">
      <Link
        to="/p/$projectId/review/$taskId"
        params={{ projectId: entry.project_id, taskId: entry.task_id }}
        className="font-medium break-words hover:underline"
      >
        {entry.title}
      </Link>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
        <Badge tone={TONES[entry.state]}>
          {entry.state === "merged" && <GitMerge size={12} aria-hidden />}
          {entry.message !== null && entry.state !== "removed" && <TriangleAlert size={12} aria-hidden />}
          {t(`queue.state.${state}`, { branch: entry.target })}
        </Badge>
        <Ago at={entry.ended_at ?? entry.added_at} />
        {entry.waits_for.length > 0 && (
          <span className="inline-flex flex-wrap items-center gap-1">
            {t("queue.waitsFor")}
            {entry.waits_for.map((each) => (
              <TaskChip key={each} taskId={each}>
                {each}
              </TaskChip>
            ))}
          </span>
        )}
        {entry.changes_task_id !== null && (
          <span className="inline-flex items-center gap-1">
            {t("queue.sentBack")}
            <TaskChip taskId={entry.changes_task_id}>{entry.changes_task_id}</TaskChip>
          </span>
        )}
      </p>
      {entry.message !== null && <p className="mt-1 text-[13px] break-words">{entry.message}</p>}
      {entry.evidence.length > 0 && (
        <details className="mt-1">
          <summary className="cursor-pointer text-xs text-soft">{t("queue.checks")}</summary>
          <CheckResults results={entry.evidence} words={words} />
        </details>
      )}
    </div>
  );
}

/** Does it, reads the queue again, and shows a refusal in the server's words. */
function useCarryingOut(projectId: string): (deed: () => Promise<unknown>) => Promise<void> {
  const client = useQueryClient();
  const toast = useToast();
  return async (deed) => {
    try {
      await deed();
    } catch (error) {
      toast.failed(error);
    }
    await client.invalidateQueries({ queryKey: ["merge-queue", projectId] });
  };
}
