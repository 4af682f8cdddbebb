// Saved views: saving what is shown, the list in the menu, and where each leads. Neither is needed for a first look.
import { lateComponent } from "@/ui";

import { useShown } from "./use-saved";

export { leadsTo, useSaved, viewOf } from "./use-saved";

export const SavedViews = lateComponent(() => import("./menu").then((part) => part.SavedViews), { beside: true });
const Save = lateComponent(() => import("./save").then((part) => part.SaveView), { beside: true });

/** Nothing where nothing is narrowed. */
export function SaveView() {
  return useShown() === null ? null : <Save />;
}
