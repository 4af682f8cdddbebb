// What a task touches, changed in place; the tasks with which it may conflict, and the subtasks whose work does.
import { useMutation } from "@tanstack/react-query";
import { CircleAlert, Pencil } from "lucide-react";
import { useState } from "react";

import { editTask } from "@/api/actions";
import { isClosed, type Task } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui";
import { InPlace } from "@/views/task/in-place";
import { Section } from "@/views/task/section";

const EXAMPLE = "src/api/**, README.md";

export function Touches({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const [writing, setWriting] = useState(false);
  const writes = useWrites();
  const open = !isClosed(task);
  const told = task.may_conflict_with.length + task.unmerged.length;
  if (!(open && writes) && task.touches.length === 0 && told === 0) return null;
  return (
    <Section title={t("touches")}>
      {!writing ? (
        <div className="flex items-start gap-2">
          <p className="min-w-0 flex-1 font-mono text-[13px] break-all">
            {task.touches.length > 0 ? task.touches.join(", ") : <span className="text-faint">{t("touchesNone")}</span>}
          </p>
          {open && writes && (
            <IconButton label={t("editTouches")} small className="shrink-0" onClick={() => setWriting(true)}>
              <Pencil size={14} />
            </IconButton>
          )}
        </div>
      ) : (
        <Write task={task} close={() => setWriting(false)} />
      )}
      <Conflicts task={task} />
    </Section>
  );
}

function Write({ task, close }: { task: Task; close: () => void }) {
  const { t } = useTranslation("task");
  const [text, write, draft] = useDraft(`touches ${task.task_id}`, task.touches.join(", "));
  const saving = useMutation({
    mutationFn: () => editTask(task.task_id, { touches: patterns(text) }, task.version),
  });
  return (
    <InPlace draft={draft} saving={saving} close={close}>
      <input
        aria-label={t("touches")}
        placeholder={EXAMPLE}
        value={text}
        className="w-full rounded-md border border-line-strong bg-panel px-3 py-2 font-mono text-[13px]"
        onChange={(event) => write(event.target.value)}
      />
    </InPlace>
  );
}

const patterns = (text: string) =>
  text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);

function Conflicts({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const open = useOpenTask();
  if (task.may_conflict_with.length + task.unmerged.length === 0) return null;
  return (
    <ul className="mt-2 space-y-1 text-amber">
      {task.unmerged.map((each) => (
        <li key={each.task_id} className="flex gap-2 break-words">
          <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          <button
            type="button"
            className="min-w-0 text-left link"
            onClick={() => open(each.resolved_by ?? each.task_id)}
          >
            {each.message}
          </button>
        </li>
      ))}
      {task.may_conflict_with.map((each) => (
        <li key={each.task_id} className="flex gap-2 break-words">
          <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          <span className="min-w-0">
            {t(each.holds ? "conflictHolds" : "mayConflict", { where: each.paths.join(", ") })}{" "}
            <button type="button" className="text-left link" onClick={() => open(each.task_id)}>
              {each.title}
            </button>
          </span>
        </li>
      ))}
    </ul>
  );
}
