// Accounts and agents in cooldown, with its end, and today's use of each budget.
import { useTranslation } from "react-i18next";

import type { Fuel } from "@/api/model";
import { Countdown, Panel, compact, money } from "@/ui";

export function FuelPanel({ fuel, names }: { fuel: Fuel; names: Map<string, string> }) {
  const { t } = useTranslation("home");
  return (
    <Panel title={t("fuel")}>
      <div className="space-y-4 p-4">
        <section>
          <h3 className="mb-1 text-xs text-faint">{t("cooldowns")}</h3>
          {fuel.cooldowns.length === 0 && <p className="text-[13px] text-soft">{t("cooldownsNone")}</p>}
          <ul className="space-y-1">
            {fuel.cooldowns.map((each) => (
              <li key={`${each.kind} ${each.name}`} className="flex items-baseline justify-between gap-3">
                <span className="min-w-0 truncate">
                  {each.name} <span className="text-xs text-faint">{each.reason}</span>
                </span>
                <span className="shrink-0 text-[13px] text-amber">
                  <Countdown until={each.until} />
                </span>
              </li>
            ))}
          </ul>
        </section>
        <section>
          <h3 className="mb-1 text-xs text-faint">{t("today")}</h3>
          {fuel.today.length === 0 && <p className="text-[13px] text-soft">{t("todayNone")}</p>}
          <ul className="space-y-2.5">
            {fuel.today.map((each) => (
              <Spent key={each.project_id} name={names.get(each.project_id) ?? each.project_id} spent={each} />
            ))}
          </ul>
        </section>
      </div>
    </Panel>
  );
}

function Spent({ name, spent }: { name: string; spent: Fuel["today"][number] }) {
  const { t, i18n } = useTranslation("home");
  const { cost_usd: cost, budget_usd: budget } = spent;
  const part = budget === null || budget === 0 ? null : Math.min(1, (cost ?? 0) / budget);
  return (
    <li className="space-y-1">
      <div className="flex items-baseline justify-between gap-3">
        <span className="min-w-0 truncate">{name}</span>
        <span className="shrink-0 text-[13px] tabular-nums">
          {cost === null && spent.tokens > 0 ? <span className="text-faint">{t("noPrice")}</span> : money(cost ?? 0)}{" "}
          {budget !== null && (cost !== null || spent.tokens === 0) && (
            <span className="text-faint">{t("ofBudget", { budget: money(budget) })}</span>
          )}
        </span>
      </div>
      {part !== null && (
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(part * 100)}
          className="h-1.5 overflow-hidden rounded-full bg-sunken"
        >
          <div
            className={`h-full ${part >= 1 ? "bg-red" : part > 0.8 ? "bg-amber" : "bg-green"}`}
            style={{ width: `${part * 100}%` }}
          />
        </div>
      )}
      <p className="text-xs text-faint tabular-nums">
        {t("tokensToday", { tokens: compact(spent.tokens, i18n.language) })}
      </p>
    </li>
  );
}
