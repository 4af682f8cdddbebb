// Summary since the last visit: completed, failed, decided, spent; and the tasks, one by one. The first look starts a
// period, dismissing a new one.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";

import { dismissSince } from "@/api/actions";
import type { Since } from "@/api/model";
import { useKeys } from "@/app/keys";
import { useTranslation } from "@/i18n/use-words";
import { Button, Kbd, Panel, lateComponent, useToast, money } from "@/ui";

const NewsSteps = lateComponent(() => import("@/views/home/news").then((part) => part.NewsSteps), { beside: true });

export function SincePanel({ since, projectId }: { since: Since; projectId: string | null }) {
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
  useKeys([{ key: "d", words: t("keyDismiss"), run: () => void dismiss() }]);
  useFirstLook(since.at);
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
            <Kbd>d</Kbd>
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
      <NewsSteps since={since} projectId={projectId} />
    </Panel>
  );
}

/** For a person who has never looked before, a period starts now: else none would ever be over. */
function useFirstLook(at: string | null): void {
  const client = useQueryClient();
  useEffect(() => {
    if (at !== null) return;
    dismissSince()
      .then(() => client.invalidateQueries({ queryKey: ["overview"] }))
      .catch(() => undefined); // the next look starts it
  }, [at, client]);
}

function Figure({ name, hint, children }: { name: string; hint?: string; children: ReactNode }) {
  return (
    <div className="bg-panel px-4 py-2.5" title={hint}>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}
