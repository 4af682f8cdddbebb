// Lanes and columns on the screen. Heads stay in sight; of many lanes only those that are seen are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { STATUSES, type TaskStatus } from "@/api/model";
import type { useMoreTasks } from "@/app/older";
import { Avatar, StatusIcon } from "@/ui";
import { Column, type Shown } from "@/views/board/column";
import type { By, Lane } from "@/views/board/lanes";

const LANE_PX = 260;

interface GridProps extends Shown {
  lanes: Lane[];
  by: By;
  /** Of the agents or the parents that lanes are for. */
  titles: Map<string, string>;
  more: More;
}

/** Open tasks that are not shown yet, by column. */
type More = ReturnType<typeof useMoreTasks>;

export function Grid(given: GridProps) {
  const { by, lanes } = given;
  const frame = useRef<HTMLDivElement>(null);
  const counts = STATUSES.map((status) => lanes.reduce((sum, lane) => sum + lane.cards[status].length, 0));
  const columns = counts.map((count) => (count > 0 ? "minmax(15rem, 1fr)" : "minmax(8.5rem, 0.45fr)")).join(" ");
  return (
    <div ref={frame} className="min-h-0 flex-1 overflow-auto px-3 pb-3">
      <div className="flex h-full min-w-max flex-col">
        <Heads counts={counts} columns={columns} hidden={given.more.hidden} />
        {by === "none" ? (
          <OneLane {...given} columns={columns} />
        ) : (
          <Lanes {...given} columns={columns} frame={frame} />
        )}
      </div>
    </div>
  );
}

interface HeadsProps {
  counts: number[];
  columns: string;
  hidden: Map<TaskStatus, number>;
}

function Heads({ counts, columns, hidden }: HeadsProps) {
  const { t } = useTranslation("board");
  const said = (status: TaskStatus, count: number) => {
    const more = hidden.get(status) ?? 0;
    return more === 0 ? count : t("older.of", { count, total: count + more });
  };
  return (
    <div className="sticky top-0 z-20 grid shrink-0 gap-2 bg-paper" style={{ gridTemplateColumns: columns }}>
      {STATUSES.map((status, place) => (
        <h2 key={status} className="flex h-9 items-center gap-2 px-2 text-[13px] font-medium">
          <StatusIcon status={status} size={15} />
          <span aria-hidden className="truncate">
            {t(`status.${status}`)}
          </span>
          <span className="text-faint tabular-nums">{said(status, counts[place] ?? 0)}</span>
        </h2>
      ))}
    </div>
  );
}

function OneLane(given: GridProps & { columns: string }) {
  const { lanes, columns, names, at, press, carried, onOpen, onSelect, more } = given;
  const [lane] = lanes;
  return (
    <div className="grid min-h-0 flex-1 gap-2" style={{ gridTemplateColumns: columns }}>
      {STATUSES.map((status) => (
        <Column
          key={status}
          lane=""
          status={status}
          cards={lane?.cards[status] ?? NONE}
          short={false}
          hidden={more.hidden.get(status) ?? 0}
          onMore={more.reading ? null : more.load}
          {...{ names, at, press, carried, onOpen, onSelect }}
        />
      ))}
    </div>
  );
}

const NONE: never[] = [];

function Lanes({
  lanes,
  by,
  titles,
  columns,
  frame,
  names,
  at,
  press,
  carried,
  onOpen,
  onSelect,
}: GridProps & { columns: string; frame: React.RefObject<HTMLDivElement | null> }) {
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LANE_PX,
    getItemKey: (index) => lanes[index]?.id ?? "",
    overscan: 3,
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
                {STATUSES.map((status) => (
                  <Column
                    key={status}
                    lane={lane.id ?? ""}
                    status={status}
                    cards={lane.cards[status]}
                    short
                    hidden={0}
                    onMore={null}
                    {...{ names, at, press, carried, onOpen, onSelect }}
                  />
                ))}
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
