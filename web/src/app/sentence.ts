// An event as a sentence: who did what to which task or agent. The words stand with the audit view; a kind that has
// none is named as it is.
import type { Event } from "@/api/model";
import type { TFunction } from "@/i18n/words";

export interface Names {
  agent: (id: string) => string;
  task: (id: string) => string;
}

/** `task.created` is the key `task_created`: a dot would mean a level. */
export const keyOf = (kind: string) => kind.replace(".", "_");

const OF_AGENTS = new Set(["to", "from", "target", "initiator", "partner", "ended_by", "person", "asked"]);
/** Whose reason is what a person has written. */
const OWN_WORDS = new Set(["task.rejected"]);
/** Whose values are names of the program: shown in words. */
const NAMED = new Set(["reason", "action", "purpose", "login", "role", "how", "for", "guard", "fields"]);
const TORYO = "system:toryo";

export function sentence(event: Event, names: Names, t: TFunction): string {
  const told = Object.fromEntries(
    Object.entries(event.data).map(([name, value]) => [
      name,
      said(OWN_WORDS.has(event.kind) ? "" : name, value, names, t),
    ]),
  );
  const words = {
    ...told,
    actor: agentIn(event.actor_id, names, t),
    agent: event.agent_id === null ? t("somebody") : names.agent(event.agent_id),
    task: event.task_id === null ? t("something") : names.task(event.task_id),
  };
  const say = (key: string, otherwise?: string): string =>
    t(key, { ...words, kind: event.kind, ...(otherwise === undefined ? {} : { defaultValue: otherwise }) });
  const key = `event.${keyOf(event.kind)}`;
  const usual = say(key, say("event.other"));
  // a process that a signal ended has no exit code: its words stand beside the others', as …_signal
  return typeof event.data["signal"] === "number" ? say(`${key}_signal`, usual) : usual;
}

const agentIn = (id: string, names: Names, t: TFunction) => (id === TORYO ? t("toryo") : names.agent(id));

function said(name: string, value: unknown, names: Names, t: TFunction): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map((each) => said(name, each, names, t)).join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string" && OF_AGENTS.has(name)) return agentIn(value, names, t);
  if (typeof value === "string" && NAMED.has(name)) return inWords(value, t);
  return String(value);
}

/** A name of the program (`has_in_progress_task`) in words. */
export function inWords(name: string, t: TFunction): string {
  return t(`said.${name}` as "said.chat", { defaultValue: name.replaceAll("_", " ") });
}

/** `crashed: words of the program` is a name, and what it said. */
export function errorInWords(error: string, t: TFunction): string {
  const [name = "", ...words] = error.split(":");
  return [inWords(name.trim(), t), words.join(":").trim()].filter(Boolean).join(": ");
}
