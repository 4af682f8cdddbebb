// An event as a sentence: who did what to which task or agent. The words stand with the audit view; a kind that has
// none is named as it is.
import type { TFunction } from "i18next";

import type { Event } from "@/api/model";

export interface Names {
  agent: (id: string) => string;
  task: (id: string) => string;
}

/** `task.created` is the key `task_created`: a dot would mean a level. */
export const keyOf = (kind: string) => kind.replace(".", "_");

const OF_AGENTS = new Set(["to", "from", "target", "initiator", "partner", "ended_by", "person"]);
/** Whose values are names of the program: shown in words. */
const NAMED = new Set(["reason", "action", "purpose", "login", "role", "how", "for"]);
const TORYO = "system:toryo";

export function sentence(event: Event, names: Names, t: TFunction<"audit">): string {
  const told = Object.fromEntries(
    Object.entries(event.data).map(([name, value]) => [name, said(name, value, names, t)]),
  );
  const words = {
    ...told,
    actor: event.actor_id === TORYO ? t("toryo") : names.agent(event.actor_id),
    agent: event.agent_id === null ? t("somebody") : names.agent(event.agent_id),
    task: event.task_id === null ? t("something") : names.task(event.task_id),
  };
  const key = `event.${keyOf(event.kind)}`;
  return t(key as "event.other", {
    ...words,
    kind: event.kind,
    // a process that a signal ended has no exit code: its words stand beside the others', as …_signal
    context: typeof event.data["signal"] === "number" ? "signal" : undefined,
    defaultValue: t("event.other", { ...words, kind: event.kind }),
  });
}

function said(name: string, value: unknown, names: Names, t: TFunction<"audit">): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map((each) => said(name, each, names, t)).join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string" && OF_AGENTS.has(name)) return names.agent(value);
  if (typeof value === "string" && NAMED.has(name))
    return t(`said.${value}` as "said.chat", { defaultValue: value.replaceAll("_", " ") });
  return String(value);
}
