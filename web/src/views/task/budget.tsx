// What a task and its subtasks may use in all, changed in place.
import { useMutation } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";

import { editTask } from "@/api/actions";
import { isClosed, type Task } from "@/api/model";
import { useWrites } from "@/app/may";
import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { IconButton, money } from "@/ui";
import { InPlace } from "@/views/task/in-place";
import { Section } from "@/views/task/section";

export function TaskBudget({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("task");
  const [writing, setWriting] = useState(false);
  const may = useWrites() && !isClosed(task);
  const { budget_usd: usd, budget_tokens: tokens } = task;
  if (!may && usd === null && tokens === null) return null;
  const limits = [
    ...(usd === null ? [] : [money(usd)]),
    ...(tokens === null ? [] : [t("budgetTokens", { tokens: tokens.toLocaleString(i18n.language) })]),
  ];
  return (
    <Section title={t("budget")}>
      {writing ? (
        <Write task={task} close={() => setWriting(false)} />
      ) : (
        <div className="flex items-start gap-2">
          <p className="min-w-0 flex-1">
            {limits.length > 0 ? limits.join(" · ") : <span className="text-faint">{t("budgetNone")}</span>}
          </p>
          {may && (
            <IconButton label={t("editBudget")} small className="shrink-0" onClick={() => setWriting(true)}>
              <Pencil size={14} />
            </IconButton>
          )}
        </div>
      )}
    </Section>
  );
}

function Write({ task, close }: { task: Task; close: () => void }) {
  const { t } = useTranslation("task");
  const [{ usd, tokens }, , draft] = useDraft(`budget.${task.task_id}`, {
    usd: written(task.budget_usd),
    tokens: written(task.budget_tokens),
  });
  const saving = useMutation({
    mutationFn: () => editTask(task.task_id, { budget_usd: amount(usd), budget_tokens: amount(tokens) }, task.version),
  });
  return (
    <InPlace draft={draft} saving={saving} close={close}>
      <div className="grid grid-cols-2 gap-2">
        <Amount label={t("budgetUsdLabel")} value={usd} step="any" write={draft.field("usd")} />
        <Amount label={t("budgetTokensLabel")} value={tokens} step="1" write={draft.field("tokens")} />
      </div>
    </InPlace>
  );
}

interface AmountProps {
  label: string;
  value: string;
  step: string;
  write: (value: string) => void;
}

function Amount({ label, value, step, write }: AmountProps) {
  return (
    <label className="space-y-1">
      <span className="text-[13px] text-soft">{label}</span>
      <input
        type="number"
        min="0"
        step={step}
        value={value}
        className="w-full rounded-md border border-line-strong bg-panel px-3 py-2 text-[13px]"
        onChange={(event) => write(event.target.value)}
      />
    </label>
  );
}

const written = (amount: number | null) => (amount === null ? "" : String(amount));

/** Nothing written: no limit. */
const amount = (text: string) => (text.trim() === "" ? null : Number(text));
