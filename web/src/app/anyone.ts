import type { BoardTask } from "@/api/model";
import type { TFunction } from "@/i18n/words";

/** How a task is given to anyone who is free first. */
export const ANYONE = "any";

/** Who a task goes to that has no assignee yet: anyone who is free, with which capabilities. */
export function anyone(task: Pick<BoardTask, "assignee_id" | "pool">, t: TFunction): string | null {
  if (task.assignee_id !== null || task.pool === undefined) return null;
  const { capabilities: words } = task.pool;
  return words.length === 0 ? t("app.anyone") : `${t("app.anyone")} (${words.join(", ")})`;
}
