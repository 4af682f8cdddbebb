// Summary since the last visit: completed, failed, decided, spent. Dismissing it starts a new period.
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { dismissSince } from "@/api/actions";
import type { Since } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { useKeys } from "@/app/keys";
import { Ago, Button, Kbd, Panel, StatusIcon, useToast, money } from "@/ui";

const SHOWN = 5;

export function SincePanel({ since }: { since: Since }) {
  const { t, i18n } = useTranslation("home");
  const client = useQueryClient();
  const toast = useToast();
  const [dismissed, setDismissed] = useState<string | null>(null);
  const quiet = since.completed_in_all + since.failed_in_all + since.decided === 0 && !since.spent_usd;
  const shown = since.at !== null && !quiet && dismissed !== since.at;
  async function dismiss() {
    if (!shown) return;
    setDismissed(since.at);
    try {
      await dismissSince();
      await client.invalidateQueries({ queryKey: ["overview"] });
    } catch (error) {
      setDismissed(null);
      toast.failed(error);
    }
  }
  useKeys([{ key: "x", words: t("keyDismiss"), run: () => void dismiss() }]);
  if (!shown || since.at === null) return null;
  const at = new Date(since.at).toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "short" });
  return (
    <Panel
      title={
        <>
          {t("since")} <span className="font-normal text-faint">{t("sinceAt", { time: at })}</span>
        </>
      }
      aside={
        <Button small look="quiet" onClick={() => void dismiss()}>
          {t("dismiss")}
          <span aria-hidden className="hidden sm:inline">
            <Kbd>x</Kbd>
          </span>
        </Button>
      }
    >
      <dl className="grid grid-cols-2 gap-px border-b border-line bg-line sm:grid-cols-4">
        <Figure name={t("finished")}>{since.completed_in_all}</Figure>
        <Figure name={t("failed")}>{since.failed_in_all}</Figure>
        <Figure name={t("decided")} hint={t("decidedHow")}>
          {since.decided}
        </Figure>
        <Figure name={t("spent")}>{since.spent_usd === null ? "–" : money(since.spent_usd)}</Figure>
      </dl>
      <Tasks tasks={since.failed} status="failed" all={since.failed_in_all} />
      <Tasks tasks={since.completed} status="completed" all={since.completed_in_all} />
    </Panel>
  );
}

function Figure({ name, hint, children }: { name: string; hint?: string; children: ReactNode }) {
  return (
    <div className="bg-panel px-4 py-2.5" title={hint}>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}

function Tasks({ tasks, status, all }: { tasks: Since["failed"]; status: "failed" | "completed"; all: number }) {
  const { t } = useTranslation("home");
  const openTask = useOpenTask();
  const shown = tasks.slice(0, SHOWN);
  if (shown.length === 0) return null;
  return (
    <ul className="px-2 py-1.5">
      {shown.map((each) => (
        <li key={each.task_id}>
          <button
            type="button"
            onClick={() => openTask(each.task_id)}
            className="flex min-h-8 w-full items-center gap-2 rounded px-2 text-left hover:bg-sunken"
          >
            <StatusIcon status={status} size={15} />
            <span className="min-w-0 flex-1 truncate">{each.title}</span>
            <span className="shrink-0 text-xs text-faint">
              <Ago at={each.at} />
            </span>
          </button>
        </li>
      ))}
      {all > shown.length && (
        <li className="px-2 py-1 text-xs text-faint">{t("andMore", { count: all - shown.length })}</li>
      )}
    </ul>
  );
}
