// What the form of a schedule holds: its fields as texts, and what is sent of them.
import type { Schedule } from "@/api/model";
import { isNumber, sourceFields, sourceWrong, type SourceSaid } from "@/views/settings/source-form";

export const KINDS = ["cron", "every", "once", "after"] as const;
export const HOUR = 3600;

type Kind = (typeof KINDS)[number];

export interface Said extends SourceSaid {
  kind: Kind;
  cron: string;
  minutes: string;
  once: string;
  /** The id of the task that is completed first. */
  after: string;
  time_zone: string;
  overlap: Schedule["overlap"];
  catch_up_hours: string;
}

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const zones = (known: string): string[] =>
  [...new Set(["UTC", here(), known, ...Intl.supportedValuesOf("timeZone")])].sort();

/** As a field for a local time has it: `2027-01-31T09:30`. */
function local(at: string): string {
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function kindOf(each: Schedule): Kind {
  if (each.cron !== null) return "cron";
  if (each.after_task_id !== null) return "after";
  return each.once_at !== null ? "once" : "every";
}

export function fieldsOf(each: Schedule | null): Said {
  return {
    ...sourceFields(each),
    kind: each === null ? "cron" : kindOf(each),
    cron: each === null ? "0 9 * * 1-5" : (each.cron ?? ""),
    minutes: each?.every_seconds == null ? "60" : String(each.every_seconds / 60),
    once: each?.once_at == null ? "" : local(each.once_at),
    after: each?.after_task_id ?? "",
    time_zone: each?.time_zone ?? here(),
    overlap: each?.overlap ?? "skip",
    catch_up_hours: String((each?.catch_up_seconds ?? 24 * HOUR) / HOUR),
  };
}

/** What is sent of the time: for a change only what differs, so that an interval does not begin again. */
export function ruleOf(said: Said, before: Said | null) {
  const { kind, cron, minutes, once, after, time_zone } = said;
  const rule = (each: Said) => [each.kind, each.cron, each.minutes, each.once, each.after].join();
  if (before !== null && rule(said) === rule(before)) return time_zone === before.time_zone ? {} : { time_zone };
  if (kind === "cron") return { cron: cron.trim(), time_zone };
  const clock = before === null ? { time_zone } : {}; // of {date} and {time}
  if (kind === "every") return { every_seconds: Math.round(Number(minutes) * 60), ...clock };
  if (kind === "after") return { after_task_id: after.trim(), ...clock };
  return { once_at: new Date(once).toISOString(), ...clock };
}

/** Whether something is missing, or would mean something else: an empty field is no zero. */
export function wrongIn(said: Said): boolean {
  const rule = {
    cron: said.cron.trim() !== "",
    every: Number(said.minutes) >= 1,
    once: !Number.isNaN(Date.parse(said.once)),
    after: said.after.trim() !== "",
  }[said.kind];
  return sourceWrong(said) || !rule || !isNumber(said.catch_up_hours);
}
