// Lanes and columns on the screen. Heads stay in sight.
import { useState } from "react";

import { STATUSES, type TaskStatus } from "@/api/model";
import { useNarrow } from "@/app/narrow";
import { lateComponent } from "@/ui";
import { Column } from "@/views/board/column";
import { Heads } from "@/views/board/heads";
import { Rail } from "@/views/board/rail";
import { shownOf, type GridProps } from "@/views/board/grid-props";

const Lanes = lateComponent(() => import("@/views/board/many-lanes").then((part) => part.Lanes), { beside: true });
const RAIL = "2.25rem";
const MOST_REM = 24;

/** Few columns do not become as wide as the screen. */
function widest(folded: ReadonlySet<TaskStatus>): string {
  return `${(STATUSES.length - folded.size) * MOST_REM + folded.size * 2.75}rem`;
}

export function Grid(given: GridProps) {
  const { by, lanes } = given;
  const [frame, setFrame] = useState<HTMLDivElement | null>(null); // a ref is still empty when the lanes look for it
  const least = useNarrow() ? "15rem" : "10rem"; // seven of them stand beside the menu on a common screen
  const counts = STATUSES.map((status) => lanes.reduce((sum, lane) => sum + lane.cards[status].length, 0));
  const columns = STATUSES.map((each) => (given.folded.has(each) ? RAIL : `minmax(${least}, 1fr)`)).join(" ");
  return (
    <div ref={setFrame} className="min-h-0 flex-1 overflow-auto px-3 pb-3">
      <div className="flex h-full min-w-max flex-col" style={{ maxWidth: widest(given.folded) }}>
        <Heads
          counts={counts}
          columns={columns}
          hidden={given.more.hidden}
          folded={given.folded}
          onFold={given.onFold}
        />
        {by === "none" ? (
          <OneLane {...given} columns={columns} />
        ) : (
          <Lanes {...given} columns={columns} frame={frame} />
        )}
      </div>
    </div>
  );
}

function OneLane(given: GridProps & { columns: string }) {
  const { lanes, columns, carried, more, folded, onFold } = given;
  const [lane] = lanes;
  return (
    <div className="grid min-h-0 flex-1 gap-2" style={{ gridTemplateColumns: columns }}>
      {STATUSES.map((status) =>
        folded.has(status) ? (
          <Rail
            key={status}
            lane=""
            status={status}
            count={lane?.cards[status].length ?? 0}
            carried={carried}
            onFold={onFold}
          />
        ) : (
          <Column
            key={status}
            lane=""
            status={status}
            cards={lane?.cards[status] ?? NONE}
            short={false}
            hidden={more.hidden.get(status) ?? 0}
            onMore={more.reading ? null : more.load}
            {...shownOf(given)}
          />
        ),
      )}
    </div>
  );
}

const NONE: never[] = [];
