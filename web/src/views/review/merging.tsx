// Approving: what is merged into which branch, and what to do where the Coordinator could not.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";

import type { BoardTask, Task, Worktree } from "@/api/model";
import { board, worktrees } from "@/api/queries";
import { Hindered, mergeTask, type MergedOne } from "@/api/worktrees";
import { Button, Checkbox, Dialog, Failed, TextField, useToast } from "@/ui";
import { Figures } from "@/views/review/file";

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
  const [into, setInto] = useState("");
  const [message, setMessage] = useState("");
  const [below, setBelow] = useState(true);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);

  async function merge(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setFailed(null);
    try {
      const wanted = { below, ...(into.trim() && { into: into.trim() }), ...(message.trim() && { message }) };
      const merged = await mergeTask(task.task_id, wanted);
      const last = merged.at(-1);
      const branch = last?.into ?? (into.trim() || work.base_branch || "");
      toast.done(
        last
          ? t("merge.done", { into: branch, commit: last.commit.slice(0, 10) })
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
    <Dialog open onClose={onClose} title={t("merge.title")} description={task.title}>
      <form onSubmit={(event) => void merge(event)} className="space-y-4">
        {unsent > 0 && (
          <p className="rounded-md bg-amber-soft px-3 py-2 text-amber">{t("merge.unsent", { count: unsent })}</p>
        )}
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
          onChange={setInto}
          required={work.base_branch === null}
          help={work.base_branch === null ? t("merge.intoNeeded") : t("merge.intoHelp", { branch: work.base_branch })}
        />
        <TextField label={t("merge.message")} value={message} onChange={setMessage} help={t("merge.messageHelp")} />
        {failed !== null && <Trouble error={failed} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="primary" disabled={busy}>
            {t(busy ? "merge.going" : "merge.go")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Part({ title, work }: { title: string; work: Worktree }) {
  return (
    <li className="flex items-baseline gap-2 px-3 py-1.5">
      <span className="min-w-0 flex-1 break-words">
        {title} <code className="font-mono text-xs break-all text-faint">{work.branch}</code>
      </span>
      <Figures insertions={work.insertions} deletions={work.deletions} />
    </li>
  );
}

/** What prevented it, in the Coordinator's words: they name the next step. */
function Trouble({ error }: { error: unknown }) {
  const { t } = useTranslation("review");
  if (!(error instanceof Hindered)) return <Failed error={error} />;
  return (
    <div role="alert" className="space-y-2 rounded-md border border-red bg-red-soft p-3">
      <p className="flex items-center gap-2 font-medium text-red">
        <TriangleAlert size={16} aria-hidden />
        {t("merge.hindered")}
      </p>
      <p className="break-words">{error.message}</p>
      <Named title={t("merge.conflict")} names={error.conflict} />
      <Named title={t("merge.stays")} names={error.merged.map(named)} />
    </div>
  );
}

const named = (each: MergedOne): string => `${each.task_id} → ${each.into} (${each.commit.slice(0, 10)})`;

function Named({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div>
      <p className="text-[13px] font-medium">{title}</p>
      <ul className="list-inside list-disc font-mono text-[13px]">
        {names.map((each) => (
          <li key={each} className="break-all">
            {each}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Tasks below this one whose work is not merged yet. */
function useParts(task: Task): { card: BoardTask; work: Worktree }[] {
  const cards = useQuery(board(task.project_id)).data?.tasks ?? [];
  const open = useQuery(worktrees(task.project_id)).data ?? [];
  const byId = new Map(cards.map((each) => [each.task_id, each]));
  const isBelow = (card: BoardTask): boolean => {
    for (let at: BoardTask | undefined = card; at?.parent_task_id; at = byId.get(at.parent_task_id))
      if (at.parent_task_id === task.task_id) return true;
    return false;
  };
  return open.flatMap((work) => {
    const card = byId.get(work.task_id);
    return card !== undefined && work.state === "open" && isBelow(card) ? [{ card, work }] : [];
  });
}
