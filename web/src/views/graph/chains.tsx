// The graph as a list of chains: each part under its own name, everything before what waits for it. Only the rows that
// are seen are there.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, Hourglass, Route } from "lucide-react";
import { useMemo, useRef, useState } from "react";

import type { Agent, BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, PriorityIcon, StatusIcon, useOverscan } from "@/ui";

import { headOf, stepsOf, type Part } from "./parts";

const ROW_PX = 44;
const DEEPEST = 8;
const INDENT_PX = 14;

type Row =
  | { kind: "head"; id: string; title: string | null; count: number; open: boolean }
  | { kind: "task"; id: string; task: BoardTask; depth: number };

interface ChainsProps {
  parts: readonly Part[];
  loose: readonly BoardTask[];
  looseShown: boolean;
  onLoose: (shown: boolean) => void;
  agents: ReadonlyMap<string, Agent>;
  critical: ReadonlySet<string>;
  held: ReadonlySet<string>;
  at: string | null;
  onChoose: (taskId: string) => void;
}

const LOOSE = "loose";

export function Chains({ parts, loose, looseShown, onLoose, agents, critical, held, at, onChoose }: ChainsProps) {
  const { t } = useTranslation("graph");
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const chains = useMemo(() => parts.map((part) => ({ head: headOf(part), steps: stepsOf(part) })), [parts]);
  const rows = useMemo(() => {
    const all = chains.flatMap(({ head, steps }): Row[] => {
      const id = head?.task_id ?? "";
      const open = !folded.has(id);
      return [
        { kind: "head", id, title: head?.title ?? id, count: steps.length, open },
        ...(open ? steps.map((step): Row => ({ kind: "task", id: step.task.task_id, ...step })) : []),
      ];
    });
    if (loose.length > 0) all.push({ kind: "head", id: LOOSE, title: null, count: loose.length, open: looseShown });
    if (looseShown) all.push(...loose.map((task): Row => ({ kind: "task", id: task.task_id, task, depth: 0 })));
    return all;
  }, [chains, folded, loose, looseShown]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: useOverscan(10),
  });
  const turn = (id: string, open: boolean) => {
    if (id === LOOSE) return onLoose(!open);
    const next = new Set(folded);
    if (open) next.add(id);
    else next.delete(id);
    setFolded(next);
  };
  return (
    <div ref={scroller} className="h-full overflow-auto">
      <ul aria-label={t("chains")} className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li
              key={`${row.kind} ${row.id}`}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0"
              style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
            >
              {row.kind === "head" ? (
                <Head row={row} onTurn={() => turn(row.id, row.open)} />
              ) : (
                <Line
                  row={row}
                  name={agents.get(row.task.assignee_id ?? "")?.name ?? row.task.assignee_id ?? ""}
                  critical={critical.has(row.id)}
                  held={held.has(row.id)}
                  chosen={row.id === at}
                  onChoose={() => onChoose(row.id)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Head({ row, onTurn }: { row: Row & { kind: "head" }; onTurn: () => void }) {
  const { t } = useTranslation("graph");
  return (
    <button
      type="button"
      aria-expanded={row.open}
      onClick={onTurn}
      className="flex h-full w-full items-center gap-2 border-b border-line bg-sunken px-3 text-left font-medium"
    >
      <ChevronRight size={14} className={`shrink-0 ${row.open ? "rotate-90" : ""}`} aria-hidden />
      <span className="truncate">{row.title ?? t("loose", { count: row.count })}</span>
      {row.title !== null && (
        <span className="ml-auto shrink-0 text-xs font-normal text-faint">{t("tasks", { count: row.count })}</span>
      )}
    </button>
  );
}

interface LineProps {
  row: Row & { kind: "task" };
  name: string;
  critical: boolean;
  held: boolean;
  chosen: boolean;
  onChoose: () => void;
}

function Line({ row: { task, depth }, name, critical, held, chosen, onChoose }: LineProps) {
  const { t } = useTranslation("graph");
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      style={{ paddingLeft: 12 + Math.min(depth, DEEPEST) * INDENT_PX }}
      className={`flex h-full w-full items-center gap-2 border-b border-line/60 pr-3 text-left ${chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
    >
      <StatusIcon status={task.status} />
      <span className="min-w-0 flex-1 truncate">{task.title}</span>
      {critical && <Route size={14} className="shrink-0 text-accent" role="img" aria-label={t("critical")} />}
      {held && <Hourglass size={14} className="shrink-0 text-amber" role="img" aria-label={t("held")} />}
      <PriorityIcon priority={task.priority} />
      {task.assignee_id !== null && <Avatar id={task.assignee_id} name={name} size={20} />}
    </button>
  );
}
