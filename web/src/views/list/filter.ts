// The order of the list, as it stands in the address; what it shows is filtered by `@/api/filter`, like the board.
export { EVERYTHING, NOBODY, PRIORITIES, matches, parsed, written, type Filter } from "@/api/filter";

/** The order, as it stands in the address: `-updated` is the newest first. */
export function sortOf(by: string | undefined): { id: string; desc: boolean }[] {
  return by === undefined ? [] : [{ id: by.replace(/^-/, ""), desc: by.startsWith("-") }];
}

export function byOf(sort: readonly { id: string; desc: boolean }[]): string | undefined {
  const [first] = sort;
  return first === undefined ? undefined : `${first.desc ? "-" : ""}${first.id}`;
}
