// What a line of the palette is, and finding among them: by words, by what stands first (`>` acts, `@` agents and people,
// `#` projects), what was used lately first.
import type { LucideIcon } from "lucide-react";

import type { ActName, Subject } from "@/app/task-acts";

export const GROUPS = ["recent", "here", "values", "do", "go", "tasks", "agents", "projects"] as const;
export type Group = (typeof GROUPS)[number];

/** What the palette asks next, inside of it. */
export type Step =
  | { kind: "task"; task: Subject }
  | { kind: "which"; act: ActName }
  | { kind: "value"; act: "assign" | "priority"; task: Subject }
  | { kind: "words"; act: ActName; task: Subject }
  | { kind: "agent"; agentId: string }
  | { kind: "agent-words"; act: "tell" | "interrupt"; agentId: string }
  | { kind: "project"; projectId: string };

export interface PaletteCommand {
  id: string;
  group: Group;
  icon: LucideIcon;
  words: string;
  aside?: string;
  /** What else it is found by. */
  more?: string;
  /** Does it, or `next` asks for more. */
  run?: () => void;
  next?: Step;
  /** The task that it is: by the right arrow, what can be done with it. */
  task?: Subject;
  /** Found by the server, in what is not read here: it fits whatever was asked. */
  found?: boolean;
}

const SHOWN: Record<Group, number> = {
  recent: 5,
  here: 25,
  values: 100,
  do: 40,
  go: 40,
  tasks: 20,
  agents: 10,
  projects: 10,
};
/** Before anything is asked. */
const AT_FIRST: Partial<Record<Group, number>> = { tasks: 5, do: 8 };

/** What stands first narrows what is looked among. */
const AMONG: Record<string, readonly Group[]> = { ">": ["here", "do"], "@": ["agents"], "#": ["projects"] };

export interface Asked {
  /** null: everything. */
  among: readonly Group[] | null;
  text: string;
}

export function asked(line: string): Asked {
  const among = AMONG[line.trimStart().charAt(0)];
  return among === undefined ? { among: null, text: line } : { among, text: line.trimStart().slice(1) };
}

/** The commands that have every word of what is asked, by group; without a question only a few of each. */
export function found(
  all: readonly PaletteCommand[],
  line: string,
  recent: readonly string[] = [],
): { group: Group; commands: PaletteCommand[] }[] {
  const { among, text } = asked(line);
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const here = among === null ? all : all.filter((each) => among.includes(each.group));
  const used = words.length === 0 && among === null ? recentOf(here, recent) : [];
  return GROUPS.map((group) => {
    if (group === "recent") return { group, commands: used };
    const fitting = here.filter((each) => each.group === group && !used.includes(each) && fits(each, words));
    const most = words.length === 0 && among === null ? (AT_FIRST[group] ?? SHOWN[group]) : SHOWN[group];
    return { group, commands: ranked(fitting, words, recent).slice(0, most) };
  }).filter(({ commands }) => commands.length > 0);
}

function recentOf(all: readonly PaletteCommand[], recent: readonly string[]): PaletteCommand[] {
  const used = recent.flatMap((id) => all.find((each) => each.id === id && each.group !== "here") ?? []);
  return used.slice(0, SHOWN.recent);
}

function fits(command: PaletteCommand, words: string[]): boolean {
  if (command.found === true) return true;
  const text = `${command.words} ${command.more ?? ""} ${command.aside ?? ""}`.toLocaleLowerCase();
  return words.every((each) => text.includes(each));
}

/** What begins with the first word stands before what only contains it; of those, what was used lately. */
function ranked(commands: PaletteCommand[], [first]: string[], recent: readonly string[]): PaletteCommand[] {
  if (first === undefined) return commands;
  const late = (each: PaletteCommand) => (each.words.toLocaleLowerCase().startsWith(first) ? 0 : 1);
  const used = (each: PaletteCommand) => (recent.includes(each.id) ? recent.indexOf(each.id) : recent.length);
  return commands.toSorted((one, other) => late(one) - late(other) || used(one) - used(other));
}
