// Why an agent is started, held or stopped: the row of the launch decision that holds, its facts, its words.
import { CirclePause, CirclePlay, CircleStop, type LucideIcon } from "lucide-react";

import type { Decision } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Badge, type Tone } from "@/ui/marks";
import { Ago, Countdown } from "@/ui/time";
import { Told } from "@/ui/told";

const ACTION: Record<Decision["action"], { icon: LucideIcon; tone: Tone }> = {
  start: { icon: CirclePlay, tone: "green" },
  hold: { icon: CirclePause, tone: "amber" },
  stop: { icon: CircleStop, tone: "red" },
};

/** What comes of it: a start that no Coordinator can carry out, or whose files are in use, is held. */
export function shownAction({ action, facts }: Pick<Decision, "action" | "facts">): Decision["action"] {
  return action === "start" && (facts["no_coordinator"] !== undefined || facts["held"] !== undefined) ? "hold" : action;
}

export function DecisionCard({ decision }: { decision: Decision }) {
  const { t } = useTranslation();
  const action = shownAction(decision);
  const { icon: Icon, tone } = ACTION[action];
  return (
    <article className="space-y-2 rounded-lg border border-line p-3">
      <header className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>
          <Icon size={13} aria-hidden />
          {t(`decision.${action}`)}
        </Badge>
        <Badge>{t(`decision.${decision.purpose}`)}</Badge>
        <span className="ml-auto text-xs text-faint">
          {decision.until !== null ? <Countdown until={decision.until} /> : <Ago at={decision.since} />}
        </span>
      </header>
      <p className="break-words">
        <Told text={decision.summary} />
      </p>
      <p className="text-xs text-faint">{decision.rule}</p>
      <DecisionFacts decision={decision} />
    </article>
  );
}

/** What was read, by the names that the tables and the log have for it: for who looks into a rule. */
export function DecisionFacts({ decision }: { decision: Decision }) {
  const { t } = useTranslation();
  const facts = Object.entries(decision.facts).filter(([, value]) => value !== null && value !== "");
  const all = [[t("decision.row"), decision.row] as const, [t("decision.reason"), decision.reason] as const, ...facts];
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-soft">{t("decision.facts", { count: facts.length })}</summary>
      <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 font-mono">
        {all.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-faint">{name}</dt>
            <dd className="break-all">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
