// Status, assignee and priority of a task, chosen where they stand; `s`, `a` and `p` open them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";

import { ANYONE, anyone } from "@/ui";
import { PRIORITIES } from "@/api/filter";
import { isFinal, type Task } from "@/api/model";
import { agents, members, task as taskQuery } from "@/api/queries";
import type { Acting } from "@/app/acting";
import { useWrites } from "@/app/may";
import { verb } from "@/app/task-acts";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Badge, Menu, MenuItem, PriorityIcon, StatusBadge, StatusIcon, usePlainly, useToast } from "@/ui";
import { Conflicting, saveField } from "@/views/task/editing";

export type Fact = "status" | "assign" | "priority";

interface PickersProps {
  task: Task;
  acting: Acting;
  /** The one that is open. */
  open: Fact | null;
  onOpen: (fact: Fact | null) => void;
}

export function Pickers({ task, acting, open, onOpen }: PickersProps) {
  const { t } = useTranslation("task");
  const writes = useWrites();
  const given = (fact: Fact) => ({
    open: open === fact,
    onOpen: (now: boolean) => onOpen(now ? fact : null),
  });
  const priority = (
    <>
      <PriorityIcon priority={task.priority} />
      {t(`priority.${task.priority}`)}
    </>
  );
  if (!writes)
    return (
      <>
        <StatusBadge status={task.status} />
        <span className="inline-flex items-center gap-1.5 text-[13px]">
          <Who task={task} />
        </span>
        <span className="inline-flex items-center gap-1.5 text-[13px]">{priority}</span>
      </>
    );
  return (
    <>
      <Picker name={t("field.status")} shown={<StatusBadge status={task.status} />} {...given("status")}>
        <Moves task={task} acting={acting} />
      </Picker>
      {isFinal(task) || (task.agent_type !== null && task.assignee_id === null) ? (
        <span className="inline-flex items-center gap-1.5 text-[13px]">
          <Who task={task} />
        </span>
      ) : (
        <Picker name={t("field.assignee")} shown={<Who task={task} />} {...given("assign")}>
          <Team task={task} />
        </Picker>
      )}
      <Picker name={t("field.priority")} shown={priority} {...given("priority")}>
        <Priorities task={task} />
      </Picker>
    </>
  );
}

interface PickerProps {
  name: string;
  shown: ReactNode;
  open: boolean;
  onOpen: (open: boolean) => void;
  children: ReactNode;
}

function Picker({ name, shown, open, onOpen, children }: PickerProps) {
  return (
    <Menu
      align="start"
      open={open}
      onOpen={onOpen}
      trigger={
        <button
          type="button"
          title={name}
          className="inline-flex h-7 max-w-full min-w-0 items-center gap-1.5 rounded-md border border-line px-1.5 text-[13px] hover:border-line-strong hover:bg-sunken"
        >
          <span className="sr-only">{name}: </span>
          {shown}
          <ChevronDown size={12} className="shrink-0 text-faint" aria-hidden />
        </button>
      }
    >
      <div className="max-h-80 max-w-72 overflow-y-auto">{children}</div>
    </Menu>
  );
}

function Who({ task }: { task: Task }) {
  const { assignee_id: id, agent_type: queue } = task;
  const { t } = useTranslation("task");
  const name = useQuery(agents).data?.find((each) => each.agent_id === id)?.name ?? id;
  if (id === null && queue !== null)
    return (
      <Badge tone="violet">
        {t("field.queue")} {queue}
      </Badge>
    );
  if (id === null || name === null) return <span className="text-soft">{anyone(task, t) ?? t("app.nobody")}</span>;
  return (
    <>
      <Avatar id={id} name={name} size={18} />
      <span className="truncate">{name}</span>
    </>
  );
}

/** Every move; those that are not allowed stay in sight, with the server's reason. */
function Moves({ task, acting }: { task: Task; acting: Acting }) {
  const { t } = useTranslation();
  const plainly = usePlainly();
  return acting.verdict.moves
    .filter((each) => each.status !== task.status)
    .map((each) => (
      <div key={each.status}>
        <MenuItem disabled={!each.allowed} onSelect={() => acting.move(each)}>
          <StatusIcon status={each.status} size={15} />
          {t(`act.${verb(task.status, each.status)}`)}
        </MenuItem>
        {!each.allowed && each.reason !== null && (
          <p className="px-2.5 pb-1.5 pl-9 text-xs text-faint">{plainly(each.reason)}</p>
        )}
      </div>
    ));
}

function Team({ task }: { task: Task }) {
  const { t } = useTranslation();
  const save = useSaving(task);
  const team = useQuery(members(task.project_id)).data ?? [];
  return (
    <>
      {team.map((each) => (
        <MenuItem key={each.agent_id} onSelect={() => void save("assignee_id", each.agent_id)}>
          <Avatar id={each.agent_id} name={each.name} size={18} />
          <span className="truncate">{each.name}</span>
          <Chosen on={each.agent_id === task.assignee_id} />
        </MenuItem>
      ))}
      <MenuItem onSelect={() => void save("assignee_id", ANYONE)}>
        {t("app.anyone")}
        <Chosen on={anyone(task, t) !== null} />
      </MenuItem>
      <MenuItem onSelect={() => void save("assignee_id", null)}>
        {t("app.nobody")}
        <Chosen on={task.assignee_id === null && task.pool === undefined} />
      </MenuItem>
    </>
  );
}

function Priorities({ task }: { task: Task }) {
  const { t } = useTranslation();
  const save = useSaving(task);
  return PRIORITIES.map((each) => (
    <MenuItem key={each} onSelect={() => void save("priority", each)}>
      <PriorityIcon priority={each} />
      {t(`priority.${each}`)}
      <Chosen on={each === task.priority} />
    </MenuItem>
  ));
}

function Chosen({ on }: { on: boolean }) {
  return on ? <Check size={14} className="ml-auto" aria-label="✓" /> : null;
}

/** A change elsewhere in the task is no conflict. */
function useSaving(task: Task) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  return async (field: "assignee_id" | "priority", value: string | null) => {
    try {
      const saved = await saveField(task, field, value);
      client.setQueryData(taskQuery(task.task_id).queryKey, saved);
    } catch (error) {
      toast.failed(error instanceof Conflicting ? new Error(t("error.conflict")) : error);
    } finally {
      await client.invalidateQueries({ queryKey: ["task", task.task_id] });
    }
  };
}
