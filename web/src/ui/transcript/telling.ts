// What says most about a call: one argument for its row, and what it was about for its sign.
import {
  FilePen,
  FileText,
  Globe,
  ListTodo,
  MessagesSquare,
  Search,
  SquareTerminal,
  Wrench,
  type LucideIcon,
} from "lucide-react";

/** The same order as `_TELLING` in src/toryo/coordinator/doing.py. */
export const TELLING = [
  ...["command", "cmd", "file_path", "filePath", "absolute_path", "pattern", "query", "url", "path", "notebook_path"],
  ...["title", "subject", "description", "summary", "progress", "message", "prompt", "task_id", "name"],
];
const SERVER = /^(?:mcp__.+?__|mcp_[a-z0-9]+_|toryo[_-]|[a-z0-9_-]+\.)(?=[A-Za-z])/;

const SIGNS: [RegExp, LucideIcon][] = [
  [/todo|update_plan/i, ListTodo],
  [/bash|shell|exec|command|terminal/i, SquareTerminal],
  [/edit|write|patch|create$|replace/i, FilePen],
  [/web|fetch|url|browser/i, Globe],
  [/grep|glob|search|find/i, Search],
  [/read|view|cat|list_dir|^ls$/i, FileText],
  [/message|conversation|chat|delegat/i, MessagesSquare],
];

export const toolName = (tool: string) => tool.replace(SERVER, "");

export function signOf(tool: string): LucideIcon {
  const name = toolName(tool);
  return SIGNS.find(([pattern]) => pattern.test(name))?.[1] ?? Wrench;
}

export function objectOf(text: string): Record<string, unknown> | null {
  if (!text.startsWith("{")) return null;
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export function telling(args: string): string {
  const given = objectOf(args);
  if (given === null) return args.split("\n")[0] ?? "";
  const known = TELLING.map((name) => given[name]).map((each) => (Array.isArray(each) ? each.join(" ") : each));
  const found = [...known, ...Object.values(given)].find((each) => typeof each === "string" && each.trim() !== "");
  return typeof found === "string" ? (found.trim().split("\n")[0] ?? "") : "";
}

export interface Todo {
  text: string;
  state: "done" | "doing" | "open";
}

const DONE = /^(?:completed|done|cancelled)$/;

/** The list of a call that writes one: TodoWrite, write_todos, todowrite, update_plan. */
export function todosOf(tool: string, args: string): Todo[] | null {
  if (!/todo|update_plan/i.test(tool)) return null;
  const given = objectOf(args);
  const list = given?.["todos"] ?? given?.["plan"] ?? given?.["items"];
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.map((each: unknown) => {
    const { content, description, step, title, status } = (each ?? {}) as Record<string, unknown>;
    const text = [content, description, step, title, each].find((one) => typeof one === "string");
    const state = DONE.test(String(status)) ? "done" : status === "in_progress" ? "doing" : "open";
    return { text: typeof text === "string" ? text : "", state };
  });
}

export interface Used {
  read: number;
  written: number;
  cached: number;
  cost: string | null;
}

/** `1200 in · 34 out · 1000 cached · $0.0123` */
export function usedOf(text: string): Used {
  const number = (name: string) => Number(new RegExp(`(\\d+) ${name}`).exec(text)?.[1] ?? 0);
  return {
    read: number("in"),
    written: number("out"),
    cached: number("cached"),
    cost: /\$[\d.]+/.exec(text)?.[0] ?? null,
  };
}
