// What the address says of the board: the filter (the same line as the list's) and the lanes.
import { useMemo } from "react";

import { parsed, written, type Filter } from "@/api/filter";
import { say, useSearch } from "@/app/routing";
import { BYS, type By } from "@/views/board/lanes";

export function useAddress() {
  const { q = "", by: said } = useSearch();
  const filter = useMemo(() => parsed(q), [q]);
  const by: By = BYS.find((each) => each === said) ?? "none";
  return {
    filter,
    by,
    setFilter: (next: Filter) => say({ q: written(next) }, { replace: true }),
    setBy: (next: By) => say({ by: next === "none" ? undefined : next }, { replace: true }),
  };
}
