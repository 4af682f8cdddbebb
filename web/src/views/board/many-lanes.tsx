// Lanes one below the other: of many only those that are seen are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";

import { STATUSES } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, useOverscan } from "@/ui";
import { Column } from "@/views/board/column";
import { shownOf, type GridProps } from "@/views/board/grid-props";
import type { By, Lane } from "@/views/board/lanes";
import { Rail } from "@/views/board/rail";

const LANE_PX = 260;

export function Lanes(given: GridProps & { columns: string; frame: HTMLDivElement | null }) {
  const { lanes, by, titles, columns, frame, carried, folded, onFold } = given;
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => frame,
    estimateSize: () => LANE_PX,
    getItemKey: (index) => lanes[index]?.id ?? "",
    overscan: useOverscan(3),
  });
  return (
    <div className="relative shrink-0" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const lane = lanes[item.index];
        return (
          lane !== undefined && (
            <section
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="absolute top-0 left-0 w-full pb-4"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <LaneHead lane={lane} by={by} title={lane.id === null ? null : (titles.get(lane.id) ?? lane.id)} />
              <div className="grid items-stretch gap-2" style={{ gridTemplateColumns: columns }}>
                {STATUSES.map((status) =>
                  folded.has(status) ? (
                    <Rail
                      key={status}
                      lane={lane.id ?? ""}
                      status={status}
                      count={lane.cards[status].length}
                      carried={carried}
                      onFold={onFold}
                      short
                    />
                  ) : (
                    <Column
                      key={status}
                      lane={lane.id ?? ""}
                      status={status}
                      cards={lane.cards[status]}
                      short
                      hidden={0}
                      onMore={null}
                      {...shownOf(given)}
                    />
                  ),
                )}
              </div>
            </section>
          )
        );
      })}
    </div>
  );
}

function LaneHead({ lane, by, title }: { lane: Lane; by: By; title: string | null }) {
  const { t } = useTranslation("board");
  return (
    <h3 className="sticky left-0 flex w-fit max-w-[85vw] items-center gap-2 px-1 py-1.5">
      {by === "agent" && lane.id !== null && <Avatar id={lane.id} name={title ?? lane.id} size={20} />}
      <span className="truncate font-medium">{title ?? t(by === "agent" ? "app.nobody" : "alone")}</span>
      <span className="text-xs text-faint tabular-nums">{lane.count}</span>
    </h3>
  );
}
