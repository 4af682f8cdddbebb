// What the address says of the board: the filter (the same line as the list's) and the lanes.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

import { parsed, written, type Filter } from "@/api/filter";
import { BYS, type By } from "@/views/board/lanes";

export function useAddress() {
  const { q = "", by: said } = useSearch({ strict: false });
  const navigate = useNavigate();
  const filter = useMemo(() => parsed(q), [q]);
  const by: By = BYS.find((each) => each === said) ?? "none";
  function put(name: "q" | "by", value: string | undefined) {
    void navigate({
      to: ".",
      replace: true,
      search: ({ q: line, by: rows, ...rest }) => {
        const next = { q: line, by: rows, [name]: value };
        return { ...rest, ...(next.q ? { q: next.q } : {}), ...(next.by ? { by: next.by } : {}) };
      },
    });
  }
  return {
    filter,
    by,
    setFilter: (next: Filter) => put("q", written(next)),
    setBy: (next: By) => put("by", next === "none" ? undefined : next),
  };
}
