// What the address says of the graph: one tree (`by`), and as words in `q` whether finished tasks and tasks without links
// are shown, and whether as a picture or as a list.

import { useNarrow } from "@/app/narrow";
import { say, useSearch } from "@/app/routing";

type Word = "finished" | "loose" | "linked" | "list" | "picture";

export function useAddress() {
  const { by, q = "" } = useSearch();
  const narrow = useNarrow();
  const words = new Set(q.split(/\s+/));
  const put = (wanted: Partial<Record<Word, boolean>>) => {
    const kept = KNOWN.filter((each) => wanted[each] ?? words.has(each));
    say({ q: kept.join(" ") || undefined }, { replace: true });
  };
  return {
    root: by,
    finished: words.has("finished"),
    /** undefined: nobody has said. */
    loose: words.has("loose") ? true : words.has("linked") ? false : undefined,
    /** On a phone a picture of many tasks cannot be read. */
    list: words.has("list") || (narrow && !words.has("picture")),
    setRoot: (next: string) => say({ by: next || undefined }, { replace: true }),
    setFinished: (next: boolean) => put({ finished: next }),
    setLoose: (next: boolean) => put({ loose: next, linked: !next }),
    setList: (next: boolean) => put({ list: next, picture: !next }),
    open: (taskId: string) => say({ task: taskId }),
  };
}

const KNOWN: readonly Word[] = ["finished", "loose", "linked", "list", "picture"];
