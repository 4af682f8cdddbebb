// Today's budgets: how much is spent, and what happens when it is used up.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Budget } from "@/api/model";
import { useOwns } from "@/app/may";
import { Panel, money } from "@/ui";

const NEARLY = 0.8;

export function Budgets({ all }: { all: readonly Budget[] }) {
  const { t } = useTranslation("usage");
  const owns = useOwns();
  if (all.length === 0) return null;
  return (
    <Panel
      title={t("budget")}
      aside={
        owns && (
          <Link to="/settings" search={{ tab: "projects" }} className="text-[13px] text-accent underline">
            {t("setBudget")}
          </Link>
        )
      }
    >
      <ul className="divide-y divide-line">
        {all.map((each) => (
          <One key={each.project_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function One({ each }: { each: Budget }) {
  const { t, i18n } = useTranslation("usage");
  if (each.budget_per_day === null)
    return (
      <li className="px-4 py-3">
        <p className="flex justify-between gap-3">
          <span className="font-medium">{each.name}</span>
          <span className="tabular-nums">{money(each.spent_today)}</span>
        </p>
        <p className="text-[13px] text-faint">{t("noBudget")}</p>
      </li>
    );
  const part = each.budget_per_day === 0 ? 1 : each.spent_today / each.budget_per_day;
  const tone = each.used_up ? "bg-red" : part >= NEARLY ? "bg-amber" : "bg-green";
  const ends = new Date(each.day_ends_at).toLocaleTimeString(i18n.language, { hour: "2-digit", minute: "2-digit" });
  return (
    <li className="space-y-1.5 px-4 py-3">
      <p className="flex justify-between gap-3">
        <span className="font-medium">{each.name}</span>
        <span className="tabular-nums">
          {t("ofBudget", { spent: money(each.spent_today), budget: money(each.budget_per_day) })}
        </span>
      </p>
      <div
        role="meter"
        aria-label={each.name}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(part * 100))}
        className="h-2 overflow-hidden rounded-full bg-sunken"
      >
        <div className={`h-full ${tone}`} style={{ width: `${Math.min(100, part * 100)}%` }} />
      </div>
      {each.used_up && <p className="text-[13px] text-red">{t("usedUp", { time: ends })}</p>}
    </li>
  );
}
