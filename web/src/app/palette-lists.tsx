// The lists of the palette, one for each step: each reads what it lists by itself.
import { useQuery } from "@tanstack/react-query";
import { Command, useCommandState } from "cmdk";
import { useLayoutEffect } from "react";
import { CircleDot } from "lucide-react";

import { task as taskQuery } from "@/api/queries";
import { useAgentActs, useProjectActs } from "@/app/agent-acts";
import { useChosenTask } from "@/app/chosen";
import { useRootCommands } from "@/app/commands";
import { found, type PaletteCommand, type Step } from "@/app/finding";
import { useRecent } from "@/app/recent";
import { useParams, useSearch } from "@/app/routing";
import { useActsOn, useFound, useTasksFor, useValues } from "@/app/steps";
import { useTranslation } from "@/i18n/use-words";

export interface ListProps {
  asked: string;
  onChoose: (command: PaletteCommand) => void;
}

export function ListOf({ step, ...given }: ListProps & { step: Exclude<Step, { kind: "words" | "agent-words" }> }) {
  switch (step.kind) {
    case "task":
      return <OfTask task={step.task} {...given} />;
    case "which":
      return <Which act={step.act} {...given} />;
    case "value":
      return <Values act={step.act} task={step.task} {...given} />;
    case "agent":
      return <OfAgent agentId={step.agentId} {...given} />;
    case "project":
      return <OfProject projectId={step.projectId} {...given} />;
  }
}

/** Everything. The task that is open, or that one stands on, comes first. */
export function Root(given: ListProps) {
  const { taskId: page } = useParams();
  const { task: sheet } = useSearch();
  const chosen = useChosenTask();
  const id = sheet ?? page ?? chosen;
  const task = useQuery({ ...taskQuery(id ?? ""), enabled: id !== null }).data;
  const here = useActsOn(id === null ? undefined : task, "here");
  const all = useRootCommands();
  const more = useFound(/^\s*[>@#]/.test(given.asked) ? "" : given.asked, all);
  return <Groups {...given} title={task?.title} commands={[...here, ...all, ...more]} />;
}

function OfTask({ task, ...given }: ListProps & { task: Parameters<typeof useActsOn>[0] }) {
  return <Groups {...given} commands={useActsOn(task)} />;
}

function Which({ act, ...given }: ListProps & { act: Parameters<typeof useTasksFor>[0] }) {
  return <Groups {...given} commands={useTasksFor(act)} />;
}

function Values({ act, task, ...given }: ListProps & Pick<Extract<Step, { kind: "value" }>, "act" | "task">) {
  return <Groups {...given} commands={useValues(act, task)} />;
}

function OfAgent({ agentId, ...given }: ListProps & { agentId: string }) {
  return <Groups {...given} commands={useAgentActs(agentId)} />;
}

function OfProject({ projectId, ...given }: ListProps & { projectId: string }) {
  return <Groups {...given} commands={useProjectActs(projectId)} />;
}

interface GroupsProps extends ListProps {
  commands: readonly PaletteCommand[];
  /** Of the task that acts are for. */
  title?: string | undefined;
}

function Groups({ commands, asked, title, onChoose }: GroupsProps) {
  const { t } = useTranslation();
  useRightArrow(commands, onChoose);
  return found(commands, asked, useRecent()).map(({ group, commands: shown }) => (
    <Command.Group
      key={group}
      heading={group === "here" && title !== undefined ? title : t(`palette.${group}`)}
      className="[&_[cmdk-group-heading]]:truncate [&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
    >
      {shown.map((each) => (
        <Item key={each.id} command={each} onChoose={onChoose} />
      ))}
    </Command.Group>
  ));
}

/** Leads to what can be done with the task that is selected, where the field has nothing right of its cursor. */
function useRightArrow(commands: readonly PaletteCommand[], onChoose: GroupsProps["onChoose"]): void {
  const selected = useCommandState((state) => state.value);
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const field = event.target;
      if (event.key !== "ArrowRight" || !(field instanceof HTMLInputElement)) return;
      const task = commands.find((each) => each.id === selected)?.task;
      if (task === undefined || field.selectionStart !== field.value.length) return;
      event.preventDefault();
      onChoose({
        id: `task ${task.task_id}`,
        group: "tasks",
        icon: CircleDot,
        words: "",
        next: { kind: "task", task },
      });
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [commands, selected, onChoose]);
}

function Item({ command, onChoose }: { command: PaletteCommand; onChoose: (command: PaletteCommand) => void }) {
  const { id, icon: Icon, words, aside } = command;
  return (
    <Command.Item
      value={id}
      onSelect={() => onChoose(command)}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-sunken"
    >
      <Icon size={15} className="shrink-0 text-soft" aria-hidden />
      <span className="truncate">{words}</span>
      {aside !== undefined && <span className="ml-auto max-w-[45%] shrink-0 truncate text-xs text-faint">{aside}</span>}
    </Command.Item>
  );
}
