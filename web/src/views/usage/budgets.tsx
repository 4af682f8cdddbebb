// Budgets of today, and those of tasks: how much is spent, and what happens when one is used up.

import type { AgentBudget, Budget, SpentOfTask } from "@/api/model";
import { useOwns } from "@/app/may";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Panel, money } from "@/ui";

const NEARLY = 0.8;

interface Props {
  all: readonly Budget[];
  agents: readonly AgentBudget[];
  tasks: readonly SpentOfTask[];
}

export function Budgets({ all, agents, tasks }: Props) {
  const { t } = useTranslation("usage");
  const owns = useOwns();
  if (all.length === 0) return null;
  return (
    <Panel
      title={t("budget")}
      aside={
        owns && (
          <Link to="/settings" search={{ tab: "projects" }} className="text-[13px] link">
            {t("setBudget")}
          </Link>
        )
      }
    >
      <ul className="divide-y divide-line">
        {all.map((each) => (
          <One key={each.project_id} each={each} />
        ))}
        {agents.map((each) => (
          <One key={each.agent_id} each={each} />
        ))}
        {tasks.map((each) => (
          <OfTask key={each.task_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function OfTask({ each }: { each: SpentOfTask }) {
  const { t } = useTranslation("usage");
  return (
    <li className="space-y-1.5 px-4 py-3">
      <Spent
        name={each.title}
        usd={[each.spent_usd, each.budget_usd]}
        tokens={[each.spent_tokens, each.budget_tokens]}
      />
      {each.used_up && <p className="text-[13px] text-red">{t("taskUsedUp")}</p>}
    </li>
  );
}

function One({ each }: { each: Budget | AgentBudget }) {
  const { t, i18n } = useTranslation("usage");
  const ends = new Date(each.day_ends_at).toLocaleTimeString(i18n.language, { hour: "2-digit", minute: "2-digit" });
  const { budget_per_day: usd, tokens_per_day: tokens } = each;
  if (usd === null && tokens === null)
    return (
      <li className="px-4 py-3">
        <p className="flex justify-between gap-3">
          <span className="font-medium">{each.name}</span>
          <span className="tabular-nums">{money(each.spent_today)}</span>
        </p>
        <p className="text-[13px] text-faint">{t("noBudget")}</p>
      </li>
    );
  return (
    <li className="space-y-1.5 px-4 py-3">
      <Spent name={each.name} usd={[each.spent_today, usd]} tokens={[each.tokens_today, tokens]} />
      {each.used_up && <p className="text-[13px] text-red">{t("usedUp", { time: ends })}</p>}
    </li>
  );
}

type SpentOf = readonly [spent: number, budget: number | null];

/** Of a budget in money, in tokens, or in both: named once. */
function Spent({ name, usd, tokens }: { name: string; usd: SpentOf; tokens: SpentOf }) {
  const { t, i18n } = useTranslation("usage");
  const count = (number: number) => number.toLocaleString(i18n.language);
  const limits = [
    usd[1] !== null && {
      words: t("ofBudget", { spent: money(usd[0]), budget: money(usd[1]) }),
      part: part(usd[0], usd[1]),
    },
    tokens[1] !== null && {
      words: t("ofTokens", { spent: count(tokens[0]), budget: count(tokens[1]) }),
      part: part(tokens[0], tokens[1]),
    },
  ].filter((each) => each !== false);
  return (
    <>
      <p className="flex justify-between gap-3">
        <span className="font-medium">{name}</span>
        <span className="flex flex-wrap justify-end gap-x-3 tabular-nums">
          {limits.map((each) => (
            <span key={each.words}>{each.words}</span>
          ))}
        </span>
      </p>
      {limits.map((each) => (
        <Bar key={each.words} part={each.part} label={`${name}: ${each.words}`} />
      ))}
    </>
  );
}

const part = (spent: number, budget: number) => (budget === 0 ? 1 : Math.min(1, spent / budget));

interface MeterProps {
  name: string;
  words: string;
  /** null: nobody knows of how much. */
  part: number | null;
  /** As a screen reader says it; otherwise the name and the words. */
  label?: string;
}

/** How much of something is used. */
export function Meter({ name, words, part, label = `${name}: ${words}` }: MeterProps) {
  return (
    <>
      <p className="flex justify-between gap-3">
        <span className="font-medium">{name}</span>
        <span className="tabular-nums">{words}</span>
      </p>
      {part !== null && <Bar part={part} label={label} />}
    </>
  );
}

function Bar({ part, label }: { part: number; label: string }) {
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
      className="h-2 overflow-hidden rounded-full bg-sunken"
    >
      <div className={`h-full ${toneOf(part)}`} style={{ width: `${part * 100}%` }} />
    </div>
  );
}

const toneOf = (part: number) => (part >= 1 ? "bg-red" : part >= NEARLY ? "bg-amber" : "bg-green");
