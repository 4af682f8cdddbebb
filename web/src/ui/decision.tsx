// Why an agent is started, held or stopped: the row of the launch decision that holds, its facts, its words.
import { CirclePause, CirclePlay, CircleStop, type LucideIcon } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Decision } from "@/api/model";
import { Badge, type Tone } from "@/ui/marks";
import { Ago, Countdown } from "@/ui/time";

const ACTION: Record<Decision["action"], { icon: LucideIcon; tone: Tone }> = {
  start: { icon: CirclePlay, tone: "green" },
  hold: { icon: CirclePause, tone: "amber" },
  stop: { icon: CircleStop, tone: "red" },
};

export function DecisionCard({ decision }: { decision: Decision }) {
  const { t } = useTranslation();
  const { icon: Icon, tone } = ACTION[decision.action];
  const facts = Object.entries(decision.facts).filter(([, value]) => value !== null && value !== "");
  return (
    <article className="space-y-2 rounded-lg border border-line p-3">
      <header className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>
          <Icon size={13} aria-hidden />
          {t(`decision.${decision.action}`)}
        </Badge>
        <Badge>{t(`decision.${decision.purpose}`)}</Badge>
        <code className="font-mono text-xs text-soft">{decision.reason}</code>
        <span className="ml-auto text-xs text-faint">
          {decision.until !== null ? <Countdown until={decision.until} /> : <Ago at={decision.since} />}
        </span>
      </header>
      <p className="break-words">{decision.explanation}</p>
      <p className="text-xs text-faint">
        {t("decision.row")} <code className="font-mono">{decision.row}</code> · {decision.rule}
      </p>
      {facts.length > 0 && (
        <details className="text-xs">
          <summary className="cursor-pointer text-soft">{t("decision.facts", { count: facts.length })}</summary>
          <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 font-mono">
            {facts.map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-faint">{name}</dt>
                <dd className="break-all">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </article>
  );
}
