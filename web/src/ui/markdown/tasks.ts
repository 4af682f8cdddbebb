// Ids of tasks in a text lead to the task: the frame draws them with status and title.
import type { Nodes, Root } from "mdast";

import { TASK_ID } from "../mentions";

const ALONE = new RegExp(`^${TASK_ID.source}$`);

/** The task that an address made here names. */
export function taskOf(address: string): string | undefined {
  return /^\/t\/(tsk_[0-9a-z]+)$/.exec(address)?.[1];
}

export function linkTasks() {
  return (tree: Root) => within(tree);
}

function within(node: Nodes): void {
  if (!("children" in node) || node.type === "link" || node.type === "linkReference") return;
  (node.children as Nodes[]) = node.children.flatMap((child) => {
    within(child);
    if (child.type === "text") return split(child.value);
    return child.type === "inlineCode" && ALONE.test(child.value) ? [linked(child.value)] : [child];
  });
}

function split(text: string): Nodes[] {
  const found: Nodes[] = [];
  let from = 0;
  for (const { 0: id, index } of text.matchAll(TASK_ID)) {
    if (index > from) found.push({ type: "text", value: text.slice(from, index) });
    found.push(linked(id));
    from = index + id.length;
  }
  if (from < text.length || found.length === 0) found.push({ type: "text", value: text.slice(from) });
  return found;
}

const linked = (id: string): Nodes => ({ type: "link", url: `/t/${id}`, children: [{ type: "text", value: id }] });
