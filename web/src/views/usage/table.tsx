// What was used, by agent, task, model or project: the most first.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { UsageRow } from "@/api/model";
import { projects, usage } from "@/api/queries";
import { useNames } from "@/app/names";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Loading, Panel, compact } from "@/ui";
import { costWords, tokensOf } from "@/views/usage/amounts";

type Group = "agent" | "task" | "model" | "project";
const GROUPS: readonly Group[] = ["agent", "task", "model", "project"];
const MOST = 40;

export function Table({ project, projectId, days }: { project: string | undefined; projectId: string; days: number }) {
  const { t } = useTranslation("usage");
  const [by, setBy] = useState<Group>("agent");
  const found = useQuery(usage({ project_id: project, days, by: [by] }));
  const rows = [...(found.data?.rows ?? [])].sort((a, b) => weight(b) - weight(a)).slice(0, MOST);
  return (
    <Panel
      title={
        <span role="radiogroup" aria-label={t("scope")} className="flex flex-wrap gap-1">
          {GROUPS.map((each) => (
            <button
              key={each}
              type="button"
              role="radio"
              aria-checked={each === by}
              onClick={() => setBy(each)}
              className={`rounded px-2 py-1 ${each === by ? "bg-sunken text-ink" : "font-normal text-soft hover:text-ink"}`}
            >
              {t(`by.${each}`)}
            </button>
          ))}
        </span>
      }
    >
      {found.isPending ? <Loading /> : <Rows rows={rows} by={by} projectId={projectId} />}
    </Panel>
  );
}

/** Money counts first; what has no price is ordered by its tokens. */
const weight = (row: UsageRow) => (row.cost_usd ?? 0) * 1e9 + tokensOf(row);

function Rows({ rows, by, projectId }: { rows: readonly UsageRow[]; by: Group; projectId: string }) {
  const { t, i18n } = useTranslation("usage");
  const heads = ["launches", "input", "cached", "output", "cost"] as const;
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-[13px]">
        <thead>
          <tr className="border-b border-line text-xs text-faint">
            <th scope="col" className="px-4 py-2 text-left font-medium">
              {t(`by.${by}`)}
            </th>
            {heads.map((each) => (
              <th
                key={each}
                scope="col"
                className={`px-3 py-2 text-right font-medium ${each === "cost" ? "" : "hidden sm:table-cell"}`}
              >
                {t(each)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place} className="border-b border-line last:border-0">
              <td className="max-w-0 min-w-40 px-4 py-2 sm:w-1/2">
                <Subject row={row} by={by} projectId={projectId} />
                <span className="block text-xs text-faint tabular-nums sm:hidden">
                  {t("amount", { tokens: compact(tokensOf(row), i18n.language), count: row.launches })}
                </span>
              </td>
              {[row.launches, row.input_tokens, row.cached_tokens, row.output_tokens].map((each, at) => (
                <td key={at} className="hidden px-3 py-2 text-right tabular-nums sm:table-cell">
                  {at === 3 && row.lower_bounds > 0 && "≥ "}
                  {compact(each, i18n.language)}
                </td>
              ))}
              <td className="px-3 py-2 pr-4 text-right whitespace-nowrap tabular-nums">
                {costWords(row) ?? <span className="text-faint">{t("noPrice")}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Subject({ row, by, projectId }: { row: UsageRow; by: Group; projectId: string }): ReactNode {
  const { t } = useTranslation("usage");
  const names = useNames(projectId);
  const known = useQuery(projects).data;
  if (by === "agent") {
    const id = row.agent_id ?? "";
    return (
      <span className="flex items-center gap-2">
        <Avatar id={id} name={names.agent(id)} />
        <span className="truncate">{names.agent(id)}</span>
      </span>
    );
  }
  if (by === "task")
    return row.task_id ? (
      <Link to="/t/$taskId" params={{ taskId: row.task_id }} className="block truncate hover:underline">
        {names.task(row.task_id)}
      </Link>
    ) : (
      <span className="text-faint">{t("noTask")}</span>
    );
  if (by === "model") return <span className="block truncate">{row.model ?? t("unknown")}</span>;
  return known?.find((each) => each.project_id === row.project_id)?.name ?? row.project_id;
}
