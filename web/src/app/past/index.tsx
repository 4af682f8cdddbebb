// The past of the whole page: which instant it shows, the clock that leads there, and the cards as they stood.
import { withWords } from "@/i18n";
import { lateComponent } from "@/ui";

import { usePast } from "./past";

export * from "./clock";
export * from "./past";
export * from "./use-log";
export * from "./use-past";

const Strip = lateComponent(() => withWords("audit", import("./strip")).then((part) => part.PastStrip));

/** Stands above a view that shows the past; nothing while it shows now. */
export function PastStrip(given: { projectId: string }) {
  const { at, wrong } = usePast();
  return at === null && !wrong ? null : <Strip {...given} />;
}
