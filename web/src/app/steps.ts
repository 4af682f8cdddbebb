// What the palette offers after a choice: the acts of a task, of an agent, of a project; the values of a fact; the task
// that an act is for. Each is a hook, for a component of its own (palette-lists.tsx).
import { useQuery } from "@tanstack/react-query";
import { CircleDot, Flag, UserRound } from "lucide-react";

import { ANYONE } from "@/ui";
import { PRIORITIES } from "@/api/filter";
import { foundTasks, members, moves, needs } from "@/api/queries";
import type { PaletteCommand } from "@/app/finding";
import { stepOf, useTaskCommands } from "@/app/commands";
import { useDoing } from "@/app/doing";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { NOT_ASKED, TASK_ACTS, actNamed, offers, type ActName, type Given, type Subject } from "@/app/task-acts";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

/** Does an act, and tells what was refused. */
export function useTelling(): (name: ActName, task: Subject, given?: Given) => void {
  const doing = useDoing();
  const toast = useToast();
  return (name, task, given) => void doing(name, task, given).catch(toast.failed);
}

/** Every act that fits a task now, as the server says. */
export function useActsOn(task: Subject | undefined, group: "here" | "values" = "values"): PaletteCommand[] {
  const { t } = useTranslation();
  const writes = useWrites();
  const tell = useTelling();
  const asked = useQuery({ ...moves(task?.task_id ?? ""), enabled: task !== undefined && writes }).data;
  const waiting = useQuery({ ...needs(task?.project_id ?? ""), enabled: task !== undefined }).data ?? [];
  if (task === undefined) return [];
  const work = waiting.some((each) => each.kind === "review" && each.task_id === task.task_id);
  const verdict = asked === undefined ? { ...NOT_ASKED, work } : { moves: asked.moves, judges: asked.may_judge, work };
  return TASK_ACTS.filter((each) => offers(each, task, verdict, writes)).map((each) => ({
    id: `${group} ${each.name}`,
    group,
    icon: each.icon,
    words: t(`act.${each.name}`),
    more: each.name,
    ...(each.key === undefined ? {} : { aside: each.key === "Backspace" ? "⌫" : each.key }),
    ...(each.how === "words" || each.how === "pick"
      ? { next: stepOf(each.name, each.how, task) }
      : { run: () => tell(each.name, task) }),
  }));
}

/** The tasks that an act can be done with; choosing one does it, or asks for more. */
export function useTasksFor(act: ActName): PaletteCommand[] {
  const tell = useTelling();
  const { how } = actNamed(act);
  const all = useTaskCommands(act);
  if (how === "words" || how === "pick") return all;
  return all.map(({ id, group, icon, words, more = "", aside = "", task }) => ({
    ...{ id, group, icon, words, more, aside },
    run: () => task !== undefined && tell(act, task),
  }));
}

export function useValues(act: "assign" | "priority", task: Subject): PaletteCommand[] {
  const { t } = useTranslation();
  const tell = useTelling();
  const team = useQuery(members(task.project_id)).data ?? [];
  if (act === "priority")
    return PRIORITIES.map((priority) => ({
      id: `priority ${priority}`,
      group: "values",
      icon: Flag,
      words: t(`priority.${priority}`),
      ...(priority === task.priority ? { aside: "✓" } : {}),
      run: () => tell("priority", task, { priority }),
    }));
  const people = [...team.map((each) => ({ id: each.agent_id as string | null, name: each.name }))];
  return [...people, { id: ANYONE, name: t("app.anyone") }, { id: null, name: t("app.nobody") }].map(
    ({ id, name }) => ({
      id: `assign ${id ?? ""}`,
      group: "values",
      icon: UserRound,
      words: name,
      ...(id === task.assignee_id ? { aside: "✓" } : {}),
      run: () => tell("assign", task, { assignee: id }),
    }),
  );
}

/** What the server finds in titles and descriptions, also of tasks that are not read here. */
export function useFound(text: string, known: readonly PaletteCommand[]): PaletteCommand[] {
  const { t } = useTranslation();
  const openTask = useOpenTask();
  const words = text.trim();
  const answer = useQuery({
    ...foundTasks(words),
    enabled: words.length > 1,
    placeholderData: (before) => before,
  }).data;
  const here = new Set(known.map((each) => each.id));
  if (words.length <= 1) return [];
  return (answer ?? [])
    .filter((each) => !here.has(`task ${each.task_id}`))
    .map((each) => ({
      id: `task ${each.task_id}`,
      group: "tasks",
      icon: CircleDot,
      words: each.title,
      aside: t(`status.${each.status}`),
      found: true,
      run: () => openTask(each.task_id),
    }));
}
