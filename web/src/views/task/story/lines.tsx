// The story as lines on one time axis: what was, how long it lasted, and when. The line that is chosen shows its facts.
import { ChevronRight, Route } from "lucide-react";
import { useMemo, useState } from "react";

import type { TraceTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { StatusIcon, duration, money } from "@/ui";

import { axisOf, placeOf, tickWords, ticksOf, type Axis } from "./axis";
import { Calls } from "./calls";
import { Facts } from "./facts";
import { looksOf } from "./looks";
import { instant, rowsOf, type Row } from "./rows";
import { wordsOf, type Tell } from "./words-of";

export interface LookProps {
  task: TraceTask;
  tell: Tell;
  /** Rows and tasks on the critical path. */
  critical: ReadonlySet<string>;
  /** The end of the axis. */
  now: number;
}

const INDENT_PX = 14;

export function Lines({ task, tell, critical, now }: LookProps) {
  const { t } = useTranslation("task");
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set([task.task_id]));
  const [chosen, setChosen] = useState<string | null>(null);
  const rows = useMemo(() => rowsOf(task, unfolded), [task, unfolded]);
  const axis = axisOf(instant(task.created_at), now);
  const turn = (id: string) => setUnfolded((known) => toggled(known, id));
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <Ticks axis={axis} />
      <ol aria-label={t("story.rows")} className="divide-y divide-line">
        {rows.map((row) =>
          row.kind === "calls" ? (
            <li key={row.id}>
              <Calls
                row={row}
                axis={axis}
                open={!folded.has(row.id)}
                onTurn={() => setFolded(toggled(folded, row.id))}
              />
            </li>
          ) : (
            <li key={row.id}>
              <Line
                {...{ row, axis, tell, now }}
                open={unfolded.has(row.id)}
                critical={critical.has(row.id)}
                chosen={chosen === row.id}
                onTurn={() => turn(row.id)}
                onChoose={() => setChosen(chosen === row.id ? null : row.id)}
              />
              {chosen === row.id && <Facts row={row} tell={tell} now={now} />}
            </li>
          ),
        )}
      </ol>
    </div>
  );
}

function toggled(known: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(known);
  if (!next.delete(id)) next.add(id);
  return next;
}

function Ticks({ axis }: { axis: Axis }) {
  const { i18n } = useTranslation();
  const ticks = ticksOf(axis, 4);
  return (
    <div
      aria-hidden
      className="gap-x-2 border-b border-line bg-sunken px-2 py-1 text-[11px] text-faint tabular-nums sm:grid sm:grid-cols-[40%_minmax(0,1fr)] sm:pl-0"
    >
      <span />
      <span className="flex justify-between">
        {ticks.map((at) => (
          <span key={at}>{tickWords(at, axis, i18n.language)}</span>
        ))}
      </span>
    </div>
  );
}

interface LineProps {
  row: Row;
  axis: Axis;
  tell: Tell;
  now: number;
  open: boolean;
  critical: boolean;
  chosen: boolean;
  onTurn: () => void;
  onChoose: () => void;
}

function Line({ row, axis, tell, now, open, critical, chosen, onTurn, onChoose }: LineProps) {
  const { t } = useTranslation("task");
  const words = wordsOf(row, tell);
  const { icon: Icon, tone } = looksOf(row);
  return (
    <div
      className={`relative gap-x-2 py-1.5 pr-2 sm:grid sm:grid-cols-[40%_minmax(0,1fr)] sm:items-center ${chosen ? "bg-accent-soft/50" : "hover:bg-sunken"}`}
    >
      {critical && <span aria-hidden className="absolute inset-y-0 left-0 w-1 bg-ink" />}
      <div className="flex min-w-0 items-center" style={{ paddingLeft: 4 + row.depth * INDENT_PX }}>
        <span className="relative z-1 flex size-6 shrink-0 items-center justify-center">
          {row.unfolds && (
            <button
              type="button"
              aria-expanded={open}
              aria-label={t(open ? "story.fold" : "story.unfold", { title: words })}
              onClick={onTurn}
              className="flex size-6 items-center justify-center rounded text-faint hover:text-ink"
            >
              <ChevronRight size={14} aria-hidden className={open ? "rotate-90" : ""} />
            </button>
          )}
        </span>
        <button
          type="button"
          aria-pressed={chosen}
          onClick={onChoose}
          className="flex min-w-0 flex-1 items-center gap-1.5 text-left after:absolute after:inset-0"
        >
          {row.kind === "task" ? (
            <StatusIcon status={row.task.status} size={14} />
          ) : (
            <Icon size={14} aria-hidden className={`shrink-0 ${tone}`} />
          )}
          <span className={`min-w-0 truncate ${row.kind === "task" ? "font-medium" : ""}`}>{words}</span>
          {critical && <Route size={13} aria-label={t("story.onPath")} role="img" className="shrink-0" />}
          <Figures row={row} now={now} />
        </button>
      </div>
      <Track row={row} axis={axis} now={now} />
    </div>
  );
}

/** How long it lasted, and what it cost. */
function Figures({ row, now }: { row: Row; now: number }) {
  const { i18n } = useTranslation();
  const lasted = row.to === row.from ? "" : duration((row.to ?? now) - row.from, i18n.language);
  const cost = row.kind === "launch" ? (row.launch.usage?.cost_usd ?? null) : null;
  const said = [lasted, cost === null ? "" : money(cost)].filter((each) => each !== "").join(" · ");
  return <span className="ml-auto shrink-0 text-xs text-faint tabular-nums">{said}</span>;
}

export function Track({ row, axis, now }: { row: Row; axis: Axis; now: number }) {
  const { left, width } = placeOf(axis, row.from, row.to ?? now);
  return (
    <span aria-hidden className="relative mt-1 ml-2 block h-3 rounded-sm bg-sunken sm:mt-0 sm:ml-0">
      <span
        className={`absolute inset-y-0 rounded-sm ${looksOf(row).bar} ${row.kind === "task" ? "inset-y-1" : ""} ${row.to === null ? "rounded-r-none" : ""}`}
        style={{ left: `${left}%`, width: `${width}%` }}
      />
    </span>
  );
}
