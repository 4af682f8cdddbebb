// Going through changes by keyboard: from file to file, from change to change, from line to line.

export const CHANGES = "changes";

/** Puts the focus on the next (or previous) one from where it is. */
export function go(what: "file" | "change" | "line", by: number): void {
  const all = [...(document.getElementById(CHANGES)?.querySelectorAll<HTMLElement>(`[data-${what}]`) ?? [])];
  const next = nextOf(all, by);
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: what === "file" ? "start" : "center" });
}

/** Presses what one stands on: a line to begin its comment; of the file one is in, the tick. */
export function press(what: "line" | "viewed"): void {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement)) return;
  const file = at.closest("section");
  if (what === "viewed") {
    file?.querySelector<HTMLElement>("[data-viewed]")?.click();
    file?.querySelector<HTMLElement>("[data-file]")?.focus(); // its lines go, and one goes on from here
  }
  if (what === "line" && at.dataset["line"] !== undefined) at.click();
}

/** The first one after where one stands, or the last one before it. */
function nextOf(all: readonly HTMLElement[], by: number): HTMLElement | undefined {
  const here = document.activeElement ?? document.body;
  const where = (each: HTMLElement) => here.compareDocumentPosition(each);
  if (!document.getElementById(CHANGES)?.contains(here)) return by > 0 ? all[0] : undefined;
  if (by > 0) return all.find((each) => where(each) & Node.DOCUMENT_POSITION_FOLLOWING && !each.contains(here));
  return all.findLast((each) => each !== here && where(each) & Node.DOCUMENT_POSITION_PRECEDING);
}
