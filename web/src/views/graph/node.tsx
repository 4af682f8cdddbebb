// One task in the graph. Blocked and held up are said by colour, sign and words; finished ones step back.
import { Handle, Position, type Node, type NodeHandle, type NodeProps } from "@xyflow/react";
import { Hourglass, Route } from "lucide-react";

import { isFinal, type BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, PriorityIcon, StatusIcon } from "@/ui";

import { NODE } from "./flow";

export type TaskNode = Node<
  {
    task: BoardTask;
    name: string;
    critical: boolean;
    held: boolean;
    circle: boolean;
    downwards: boolean;
  },
  "task"
>;

/** Where lines begin and end, known before a task is drawn. */
export function dotsOf(downwards: boolean): NodeHandle[] {
  const { width, height } = NODE;
  const [begin, end] = downwards
    ? [
        { position: Position.Top, x: width / 2, y: 0 },
        { position: Position.Bottom, x: width / 2, y: height },
      ]
    : [
        { position: Position.Left, x: 0, y: height / 2 },
        { position: Position.Right, x: width, y: height / 2 },
      ];
  return [
    { type: "target", ...begin, width: 1, height: 1 },
    { type: "source", ...end, width: 1, height: 1 },
  ];
}

const EDGE: Partial<Record<BoardTask["status"], string>> = {
  blocked: "border-amber bg-amber-soft",
  failed: "border-red bg-red-soft",
  in_progress: "border-blue bg-panel",
};

export function TaskBox({ data, selected, isConnectable }: NodeProps<TaskNode>) {
  const { t } = useTranslation("graph");
  const { task, name, critical, held, circle } = data;
  const frame = circle ? "border-red bg-red-soft" : (EDGE[task.status] ?? "border-line-strong bg-panel");
  return (
    <div
      style={NODE}
      className={`flex flex-col justify-between rounded-lg border px-3 py-2 text-left transition-shadow ${frame} ${isFinal(task) && !circle ? "border-dashed bg-sunken text-faint" : ""} ${critical ? "ring-2 ring-ink/60" : ""} ${selected ? "shadow-[var(--shadow)] outline-2 outline-offset-2 outline-accent" : ""}`}
    >
      <Handle
        type="target"
        position={data.downwards ? Position.Top : Position.Left}
        isConnectable={isConnectable}
        className={`!size-2.5 !border-line-strong !bg-panel ${isConnectable ? "" : "invisible"}`}
      />
      <p className="flex items-start gap-1.5">
        <span className="mt-0.5">
          <StatusIcon status={task.status} />
        </span>
        <span className="line-clamp-2 text-[13px] leading-snug font-medium">{task.title}</span>
      </p>
      <p className="flex items-center gap-1.5 text-xs text-faint">
        {task.assignee_id !== null && <Avatar id={task.assignee_id} name={name} size={16} />}
        <span className="truncate">{name || task.agent_type || t("nobody")}</span>
        <span className="ml-auto flex items-center gap-1.5">
          {critical && <Route size={14} className="text-ink" role="img" aria-label={t("critical")} />}
          {held && <Hourglass size={14} className="text-amber" role="img" aria-label={t("held")} />}
          <PriorityIcon priority={task.priority} />
        </span>
      </p>
      <Handle
        type="source"
        position={data.downwards ? Position.Bottom : Position.Right}
        isConnectable={isConnectable}
        className={`!size-2.5 !border-line-strong !bg-accent ${isConnectable ? "" : "invisible"}`} // else it leads nowhere
      />
    </div>
  );
}
