// From tasks, links and places to what the canvas draws.
import { MarkerType, type Edge } from "@xyflow/react";

import { isFinal, type Agent, type BoardTask } from "@/api/model";

import { NODE, type Link, type Place } from "./flow";
import { dotsOf, type TaskNode } from "./node";

export interface Asked {
  tasks: readonly BoardTask[];
  links: readonly Link[];
  places: ReadonlyMap<string, Place>;
  path: readonly string[];
  held: ReadonlySet<string>;
  agents: ReadonlyMap<string, Agent>;
  selected: string | null;
  selectedLink: string | null;
  circle: readonly string[];
  downwards: boolean;
  words: { dependency: string; subtask: string };
}

export function picture(asked: Asked): { nodes: TaskNode[]; edges: Edge[] } {
  const { tasks, links, places, path, held } = asked;
  const critical = new Set(path);
  const placed = tasks.filter((each) => places.has(each.task_id));
  const nodes = placed.map((task): TaskNode => ({
    id: task.task_id,
    type: "task",
    position: places.get(task.task_id) ?? { x: 0, y: 0 },
    ...NODE,
    handles: dotsOf(asked.downwards), // lines are drawn to tasks, too, that are not
    selected: task.task_id === asked.selected,
    ariaLabel: task.title,
    data: {
      task,
      name: asked.agents.get(task.assignee_id ?? "")?.name ?? task.assignee_id ?? "",
      critical: critical.has(task.task_id),
      held: held.has(task.task_id),
      circle: asked.circle.includes(task.task_id),
      downwards: asked.downwards,
    },
  }));
  const byId = new Map(tasks.map((each) => [each.task_id, each]));
  const next = new Map(path.map((each, at) => [each, path[at + 1]]));
  const drawn = links.filter((each) => places.has(each.from) && places.has(each.to));
  return { nodes, edges: drawn.map((each) => edge(each, asked, byId, next.get(each.from) === each.to)) };
}

function edge(link: Link, asked: Asked, byId: ReadonlyMap<string, BoardTask>, critical: boolean): Edge {
  const from = byId.get(link.from);
  const stuck = from?.status === "blocked" || from?.status === "failed";
  const quiet = from !== undefined && isFinal(from);
  const selected = link.id === asked.selectedLink;
  const colour = selected
    ? "var(--accent)"
    : critical
      ? "var(--ink)"
      : stuck
        ? "var(--amber)"
        : quiet
          ? "var(--line-strong)"
          : "var(--ink-faint)";
  return {
    id: link.id,
    source: link.from,
    target: link.to,
    selected,
    deletable: link.kind === "dependency",
    ariaLabel: asked.words[link.kind],
    markerEnd: { type: MarkerType.ArrowClosed, color: colour, width: 16, height: 16 },
    style: {
      stroke: colour,
      strokeWidth: selected || critical ? 2.5 : 1.5,
      strokeDasharray: link.kind === "subtask" ? "5 4" : undefined,
      opacity: quiet && !selected ? 0.6 : 1,
    },
  };
}
