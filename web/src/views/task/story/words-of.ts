// What a row of the story is called, in one line: names and titles, no ids.
import type { TFunction } from "@/i18n/words";

import type { Names } from "@/app/sentence";
import { sentence } from "@/app/sentence";

import type { Row, Wait } from "./rows";

export interface Tell {
  t: TFunction;
  audit: TFunction;
  names: Names;
}

export function wordsOf(row: Row, tell: Tell): string {
  const { t, names, audit } = tell;
  switch (row.kind) {
    case "task":
      return row.task.title;
    case "wait":
      return waitWords(row.wait, tell);
    case "launch":
      return t("story.launch", { number: row.number, agent: names.agent(row.launch.agent_id) });
    case "session":
      return t("story.session");
    case "calls":
      return t("story.calls");
    case "attempt":
      return t("story.attempt", { number: row.attempt.attempt, agent: names.agent(row.attempt.agent_id) });
    case "decision":
      return t(`story.decided.${row.decision.action}`, { agent: names.agent(row.decision.agent_id) });
    case "check":
      return t(`story.check.${stateOf(row.check.passed)}`);
    case "delegation":
      return t("story.delegation", { agent: names.agent(row.delegation.target_agent_id) });
    case "talk":
      return t("story.talk", { agent: names.agent(row.talk.with), count: row.talk.turns });
    case "event":
      return sentence(
        {
          ...row.event,
          ...{ event_id: "", project_id: row.task.project_id, task_id: row.task.task_id, correlation_id: null },
        },
        { ...names, task: (id) => (id === row.task.task_id ? row.task.title : names.task(id)) },
        audit,
      );
  }
}

export const stateOf = (passed: boolean | null) => (passed === null ? "running" : passed ? "passed" : "failed");

/** What it waited for; the decision's own words where its agent was held. */
function waitWords(wait: Wait, { t, names }: Tell): string {
  const on = wait.on.map(names.task).join(", ");
  if (wait.cause === "agent") {
    if (wait.rule === null) return on === "" ? t("story.wait.starting") : t("story.wait.busy", { on });
    return on === "" ? t("story.wait.agent", { rule: wait.rule }) : t("story.wait.agentOn", { rule: wait.rule, on });
  }
  if (wait.cause === "dependencies") return t("story.wait.dependencies", { on });
  if (wait.cause === "blocked" && wait.reason !== null) return t("story.wait.blockedWhy", { reason: wait.reason });
  return t(`story.wait.${wait.cause}`);
}
