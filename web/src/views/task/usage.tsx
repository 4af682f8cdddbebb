// Usage of a task and everything below it: tokens, money and launches, by agent.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { Task } from "@/api/model";
import { usage } from "@/api/queries";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { Empty, Failed, Loading, money } from "@/ui";

export function UsageTab({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("task");
  const names = useNames(task.project_id);
  const found = useQuery(usage({ task_id: task.task_id, by: ["agent", "model"] }));
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { totals, rows } = found.data;
  if (totals.launches === 0) return <Empty title={t("usage.none")} />;
  const count = (number: number) => number.toLocaleString(i18n.language);
  const price = (dollars: number | null) => (dollars === null ? t("usage.noPrice") : money(dollars));
  return (
    <div className="space-y-4">
      <p className="text-soft">{t("usage.below")}</p>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3">
        <Figure name={`${t("usage.tokens")} (${t("usage.in")})`}>
          {count(totals.input_tokens)}
          <small className="block text-xs font-normal text-faint">
            {count(totals.cached_tokens)} {t("usage.cached")}
          </small>
        </Figure>
        <Figure name={`${t("usage.tokens")} (${t("usage.out")})`}>{count(totals.output_tokens)}</Figure>
        <Figure name={t("usage.cost")}>{price(totals.cost_usd)}</Figure>
        <Figure name={t("usage.starts")}>{count(totals.launches)}</Figure>
        <Figure name={t("usage.turns")}>{count(totals.turns)}</Figure>
        <Figure name={t("usage.calls")}>{count(totals.tool_calls)}</Figure>
      </dl>
      <div className="overflow-x-auto rounded-lg border border-line">
        <table className="w-full text-left">
          <thead className="text-xs text-faint">
            <tr className="border-b border-line [&>th]:px-3 [&>th]:py-2 [&>th]:font-normal">
              <th scope="col">{t("usage.agent")}</th>
              <th scope="col">{t("usage.model")}</th>
              <th scope="col" className="text-right">
                {t("usage.tokens")}
              </th>
              <th scope="col" className="text-right">
                {t("usage.cost")}
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line [&_td]:px-3 [&_td]:py-2">
            {rows.map((each) => (
              <tr key={`${each.agent_id} ${each.model}`}>
                <td>{names.agent(each.agent_id ?? "")}</td>
                <td className="text-soft">{each.model ?? "–"}</td>
                <td className="text-right tabular-nums">{count(each.input_tokens + each.output_tokens)}</td>
                <td className="text-right tabular-nums">{price(each.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="bg-panel px-4 py-2.5">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}
