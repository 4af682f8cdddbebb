// What list, board and timeline show, as one line that stands in the address (the server reads it, too:
// domain/task_filters.py): `status:todo,blocked assignee:ada priority:high queue:review words`.
import { STATUSES, type BoardTask, type Priority, type TaskStatus } from "@/api/model";

export const PRIORITIES: readonly Priority[] = ["critical", "high", "medium", "low"];
export const NOBODY = "-";

export interface Filter {
  text: string;
  status: TaskStatus[];
  assignee: string[];
  priority: Priority[];
  queue: string[];
}

export const EVERYTHING: Filter = { text: "", status: [], assignee: [], priority: [], queue: [] };

/** Reads the line; what is no filter is a word to look for. */
export function parsed(line: string): Filter {
  const filter: Filter = { ...EVERYTHING };
  const words: string[] = [];
  for (const word of line.split(/\s+/)) {
    const colon = word.indexOf(":");
    const [name, values] = colon < 0 ? ["", ""] : [word.slice(0, colon), word.slice(colon + 1)];
    const said = values.split(",").filter(Boolean).map(decoded);
    if (name === "status") filter.status = STATUSES.filter((each) => said.includes(each));
    else if (name === "priority") filter.priority = PRIORITIES.filter((each) => said.includes(each));
    else if (name === "assignee") filter.assignee = said;
    else if (name === "queue") filter.queue = said;
    else words.push(word);
  }
  filter.text = words.join(" ");
  return filter;
}

/** Writes the line; undefined where nothing is filtered, so that the address stays clean. */
export function written(filter: Filter): string | undefined {
  const parts = (["status", "assignee", "priority", "queue"] as const)
    .filter((name) => filter[name].length > 0)
    .map((name) => `${name}:${filter[name].map(encodeURIComponent).join(",")}`);
  return [...parts, filter.text].filter((each) => each !== "").join(" ") || undefined;
}

export function matches(task: BoardTask, filter: Filter): boolean {
  return (
    oneOf(filter.status, task.status) &&
    oneOf(filter.priority, task.priority) &&
    oneOf(filter.assignee, task.assignee_id ?? NOBODY) &&
    oneOf(filter.queue, task.agent_type ?? "") &&
    saysAll(task, filter.text)
  );
}

/** Names of queues may have blanks and commas, which divide the line. */
function decoded(said: string): string {
  try {
    return decodeURIComponent(said);
  } catch {
    return said;
  }
}

function oneOf<Value>(wanted: readonly Value[], value: Value): boolean {
  return wanted.length === 0 || wanted.includes(value);
}

function saysAll(task: BoardTask, text: string): boolean {
  const said = `${task.title} ${task.task_id} ${task.blocked_reason ?? ""}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}
