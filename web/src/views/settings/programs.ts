// Which programs there are for an agent, and which machines can start each.
import type { ServerStatus } from "@/api/model";

export interface Program {
  /** As providers are named. */
  name: string;
  /** The machines that can start it now, and those that could and are offline. */
  on: string[];
  away: string[];
}

/** No program: the agent runs by itself, and signs in with its passkey. */
export const OWN = "";
export const KNOWN = ["claude", "codex", "gemini", "qwen", "opencode", "copilot", "playbook", "command"];
const AWAY_SECONDS = 60;

type Machine = Pick<ServerStatus["coordinators"][number], "coordinator_id" | "providers" | "seconds_ago">;

/** Those that can be started come first; each group in the usual order, then by name. `wanted`: to be among them. */
export function programsOf(machines: readonly Machine[], wanted: readonly string[] = []): Program[] {
  const named = new Set([...machines.flatMap((each) => each.providers), ...wanted]);
  const others = [...named].filter((each) => !KNOWN.includes(each));
  const all = [...KNOWN, ...others.sort()].map((name) => {
    const having = machines.filter((each) => each.providers.length === 0 || each.providers.includes(name));
    const names = (away: boolean) =>
      having.filter((each) => each.seconds_ago > AWAY_SECONDS === away).map((each) => each.coordinator_id);
    return { name, on: names(false), away: names(true) };
  });
  return all.toSorted((one, other) => Number(other.on.length > 0) - Number(one.on.length > 0));
}

/** The only program with a model that can be started; else none is chosen before somebody does. */
export function onlyProgram(machines: readonly Machine[]): string | null {
  const PLAIN = ["playbook", "command", "script"];
  const there = programsOf(machines).filter((each) => each.on.length > 0);
  const models = there.filter((each) => !PLAIN.includes(each.name));
  return models.length === 1 ? (models[0]?.name ?? null) : null;
}
