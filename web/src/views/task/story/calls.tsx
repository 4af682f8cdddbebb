// What the program of a launch called, read from its log when one unfolds the launch: each with its time on the axis and
// the line of the log where it stands.
import { ChevronRight, CircleX, Wrench } from "lucide-react";

import { useItems, useOutput } from "@/app/output";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { duration } from "@/ui";
import type { Call } from "@/ui/transcript";

import { placeOf, type Axis } from "./axis";
import type { Row } from "./rows";

const MOST = 200;
const INDENT_PX = 14;

interface CallsProps {
  row: Row & { kind: "calls" };
  axis: Axis;
  open: boolean;
  onTurn: () => void;
}

export function Calls({ row, axis, open, onTurn }: CallsProps) {
  const { t } = useTranslation("task");
  const output = useOutput(row.launch.launch_id);
  const calls = useItems(output).filter((each) => each.kind === "call");
  const known = output.page !== null;
  const count = Math.max(calls.length, row.launch.usage?.tool_calls ?? 0);
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={onTurn}
        disabled={calls.length === 0}
        className="flex min-h-8 w-full items-center gap-1.5 pr-2 text-left text-soft enabled:hover:bg-sunken"
        style={{ paddingLeft: 4 + row.depth * INDENT_PX }}
      >
        <ChevronRight size={14} aria-hidden className={`mx-1 shrink-0 text-faint ${open ? "rotate-90" : ""}`} />
        <Wrench size={14} aria-hidden className="shrink-0" />
        {known ? t("story.called", { count }) : t("app.loading", { ns: "translation" })}
      </button>
      {open && calls.length > 0 && (
        <ol aria-label={t("story.calls")}>
          {calls.slice(0, MOST).map((call) => (
            <CallLine key={call.line} call={call} row={row} axis={axis} />
          ))}
          {calls.length > MOST && (
            <li className="px-8 py-1 text-xs text-faint">
              {t("app.more", { ns: "translation", count: calls.length - MOST })}
            </li>
          )}
        </ol>
      )}
    </div>
  );
}

function CallLine({ call, row, axis }: { call: Call; row: CallsProps["row"]; axis: Axis }) {
  const { t, i18n } = useTranslation("task");
  const from = call.at ?? row.from;
  const { left, width } = placeOf(axis, from, call.done ?? from);
  const lasted = call.at !== null && call.done !== null ? duration(call.done - call.at, i18n.language) : "";
  return (
    <li>
      <Link
        to="/p/$projectId/logs"
        params={{ projectId: row.task.project_id }}
        search={{ launch: row.launch.launch_id, pos: `L${call.line}` }}
        className="block gap-x-2 py-1 pr-2 text-xs hover:bg-sunken sm:grid sm:grid-cols-[40%_minmax(0,1fr)] sm:items-center"
      >
        <span className="flex min-w-0 items-center gap-1.5" style={{ paddingLeft: 28 + row.depth * INDENT_PX }}>
          {call.failed && <CircleX size={13} role="img" aria-label={t("story.failed")} className="shrink-0 text-red" />}
          <span className="min-w-0 truncate font-mono">
            {call.tool} <span className="text-faint">{call.args.split("\n")[0]}</span>
          </span>
          <span className="ml-auto shrink-0 text-faint tabular-nums">{lasted}</span>
        </span>
        {call.at !== null && (
          <span aria-hidden className="relative mt-1 ml-2 block h-2 rounded-sm bg-sunken sm:mt-0 sm:ml-0">
            <span
              className={`absolute inset-y-0 rounded-sm ${call.failed ? "bg-red" : "bg-blue/50"}`}
              style={{ left: `${left}%`, width: `${width}%` }}
            />
          </span>
        )}
      </Link>
    </li>
  );
}
