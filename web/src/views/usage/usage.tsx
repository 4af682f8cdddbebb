// What agents' programs have used: tokens, and money where prices are known; and what of today's budget is left.
import { useQuery } from "@tanstack/react-query";
import { ChartPie } from "lucide-react";
import { useState } from "react";

import type { Sums } from "@/api/model";
import { usage } from "@/api/queries";
import { useLooksBack } from "@/app/past/past";
import { useParams } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Empty, Failed, Loading, Panel, SelectField, compact, money } from "@/ui";
import { costWords, everyDay, tokensOf } from "@/views/usage/amounts";
import { Bars } from "@/views/usage/bars";
import { Budgets } from "@/views/usage/budgets";
import { Forecast } from "@/views/usage/forecast";
import { Quotas } from "@/views/usage/quotas";
import { Table } from "@/views/usage/table";

const PERIODS = [1, 7, 30] as const;

export function Usage() {
  const { t } = useTranslation("usage");
  const { projectId = "" } = useParams();
  const [everywhere, setEverywhere] = useState(false);
  const [days, setDays] = useState(7);
  const past = useLooksBack();
  const project = everywhere ? undefined : projectId;
  return (
    <div className="mx-auto max-w-5xl space-y-5 p-4 md:p-6">
      <Bar title={t("title")} />
      <div className="flex justify-end">
        <div className="w-48">
          <SelectField
            bare
            label={t("scope")}
            value={everywhere ? "all" : "one"}
            onChange={(value) => setEverywhere(value === "all")}
            choices={[
              { value: "one", label: t("thisProject") },
              { value: "all", label: t("everything") },
            ]}
          />
        </div>
      </div>
      {!everywhere && !past && <Forecast projectId={projectId} />}
      <div role="radiogroup" aria-label={t("period")} className="grid gap-3 sm:grid-cols-3">
        {PERIODS.map((each) => (
          <Total key={each} days={each} project={project} chosen={each === days} choose={() => setDays(each)} />
        ))}
      </div>
      <Period project={project} projectId={projectId} days={days} />
    </div>
  );
}

interface TotalProps {
  days: number;
  project: string | undefined;
  chosen: boolean;
  choose: () => void;
}

function Total({ days, project, chosen, choose }: TotalProps) {
  const { t, i18n } = useTranslation("usage");
  const totals = useQuery(usage({ project_id: project, days })).data?.totals;
  const tokens =
    totals === undefined ? "…" : (totals.lower_bounds > 0 ? "≥ " : "") + compact(tokensOf(totals), i18n.language);
  return (
    <button
      type="button"
      role="radio"
      aria-checked={chosen}
      onClick={choose}
      className={`rounded-lg border bg-panel px-4 py-3 text-left transition-colors ${chosen ? "border-accent" : "border-line hover:border-line-strong"}`}
    >
      <span className="block text-[13px] text-soft">{days === 1 ? t("today") : t("days", { count: days })}</span>
      <span className="block text-2xl font-semibold tabular-nums">
        {totals === undefined ? "…" : (costWords(totals) ?? <Unpriced sums={totals} />)}
      </span>
      <span className="block text-[13px] text-faint tabular-nums">
        {t("amount", { tokens, count: totals?.launches ?? 0 })}
      </span>
    </button>
  );
}

/** Nothing was used: no cost. Something was, and has no price: nobody knows. */
function Unpriced({ sums }: { sums: Sums }) {
  const { t } = useTranslation("usage");
  return sums.launches === 0 ? money(0) : <span className="text-base font-medium text-soft">{t("noPrice")}</span>;
}

interface PeriodProps {
  project: string | undefined;
  projectId: string;
  days: number;
}

function Period({ project, projectId, days }: PeriodProps) {
  const { t } = useTranslation("usage");
  const found = useQuery(usage({ project_id: project, days: Math.max(days, 7), by: ["day"] }));
  const sums = useQuery(usage({ project_id: project, days })).data?.totals;
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { since, until, rows, totals, budgets, agent_budgets, task_budgets } = found.data;
  return (
    <>
      <Budgets all={budgets} agents={agent_budgets} tasks={task_budgets} />
      <Quotas />
      {rows.length === 0 || since === null || until === null ? (
        <Empty icon={<ChartPie size={26} aria-hidden />} title={t("none")}>
          {t("noneHelp")}
        </Empty>
      ) : (
        <Panel title={t("byDay")}>
          <Bars days={everyDay(rows, since, until)} inMoney={totals.cost_usd !== null} />
        </Panel>
      )}
      {sums !== undefined && <Remarks sums={sums} />}
      {sums !== undefined && sums.launches > 0 && <Table project={project} projectId={projectId} days={days} />}
    </>
  );
}

function Remarks({ sums }: { sums: Sums }) {
  const { t } = useTranslation("usage");
  if (sums.without_price === 0 && sums.lower_bounds === 0) return null;
  return (
    <div className="space-y-1 rounded-lg border border-line bg-amber-soft px-4 py-2.5 text-[13px]">
      {sums.without_price > 0 && <p>{t("unpriced", { count: sums.without_price })}</p>}
      {sums.lower_bounds > 0 && <p>{t("lower", { count: sums.lower_bounds })}</p>}
    </div>
  );
}
