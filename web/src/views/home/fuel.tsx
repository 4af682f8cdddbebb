// Accounts and agents in cooldown, with its end, and today's use of each budget.

import type { Fuel } from "@/api/model";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Countdown, Panel, accountName, compact, money } from "@/ui";

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
                <span className="min-w-0 truncate" title={each.explanation}>
                  {accountName({ account: each.name, providers: each.providers })}{" "}
                  <span className="text-xs text-faint">{each.explanation}</span>
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

/** The part of a budget that is used; null without one. */
const of = (used: number, budget: number | null) =>
  budget === null || budget === 0 ? null : Math.min(1, used / budget);

function Spent({ name, spent }: { name: string; spent: Fuel["today"][number] }) {
  const { t, i18n } = useTranslation("home");
  const { cost_usd: cost, budget_usd: budget, budget_tokens: most } = spent;
  const parts = [of(cost ?? 0, budget), of(spent.tokens, most)].filter((each) => each !== null);
  const part = parts.length === 0 ? null : Math.max(...parts);
  return (
    <li className="space-y-1">
      <div className="flex items-baseline justify-between gap-3">
        <Link
          to="/p/$projectId/usage"
          params={{ projectId: spent.project_id }}
          title={t("toUsage", { name })}
          className="min-w-0 truncate hover:underline"
        >
          {name}
        </Link>
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
        {most === null
          ? t("tokensToday", { tokens: compact(spent.tokens, i18n.language) })
          : t("tokensOf", { tokens: compact(spent.tokens, i18n.language), budget: compact(most, i18n.language) })}
      </p>
    </li>
  );
}
