// What the palette lists at first: what can be done, where one can go, tasks, agents, people and projects. Finding among
// them is in finding.ts, what follows on a choice in steps.ts.
import { useQueries, useQuery } from "@tanstack/react-query";
import {
  Bookmark,
  Bot,
  CircleDot,
  FolderGit2,
  Keyboard,
  Languages,
  Layers,
  Moon,
  Plus,
  Settings,
  Sun,
  User,
} from "lucide-react";

import { agents, board, people, projects } from "@/api/queries";
import type { PaletteCommand, Step } from "@/app/finding";
import { useCurrentProject, useOpenTask } from "@/app/going";
import { useProjectActs } from "@/app/agent-acts";
import { useMay, useWrites } from "@/app/may";
import { newTask, show } from "@/app/overlays";
import { navigate } from "@/app/routing";
import { NOT_ASKED, TASK_ACTS, offers, type ActName, type Subject } from "@/app/task-acts";
import { chooseTheme } from "@/app/theme";
import { leadsTo, useSaved, viewOf } from "@/app/saved";
import { VIEWS, addressOf } from "@/app/views";
import { chooseLanguage } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";

export function useRootCommands(): PaletteCommand[] {
  return [
    ...useThings(),
    ...useViews(),
    ...useSavedViews(),
    ...useTaskCommands(),
    ...useAgents(),
    ...usePeople(),
    ...useProjects(),
  ];
}

function useThings(): PaletteCommand[] {
  const { t } = useTranslation();
  const writes = useWrites();
  const project = useCurrentProject();
  const doing = { group: "do" as const };
  const filing = { ...doing, id: "new-task", icon: Plus, words: t("newTask.title"), aside: "n", run: () => newTask() };
  const onTasks = TASK_ACTS.filter((each) => writes || each.reads === true).map((each) => ({
    ...doing,
    id: `act ${each.name}`,
    icon: each.icon,
    words: t(`act.${each.name}`),
    more: each.name,
    next: { kind: "which" as const, act: each.name },
  }));
  const onProject = useProjectActs(project?.project_id ?? "").filter((each) => each.id !== "switch");
  return [
    ...(writes ? [filing] : []),
    ...onProject.map((each) => ({ ...each, group: "do" as const, id: `project-act ${each.id}` })),
    ...onTasks,
    { ...doing, id: "keys", icon: Keyboard, words: t("keys.title"), aside: "?", run: () => show({ kind: "keys" }) },
    { ...doing, id: "light", icon: Sun, words: t("palette.light"), run: () => chooseTheme("light") },
    { ...doing, id: "dark", icon: Moon, words: t("palette.dark"), run: () => chooseTheme("dark") },
    { ...doing, id: "en", icon: Languages, words: "English", more: "language 言語", run: () => chooseLanguage("en") },
    { ...doing, id: "ja", icon: Languages, words: "日本語", more: "japanese nihongo", run: () => chooseLanguage("ja") },
  ];
}

function useViews(): PaletteCommand[] {
  const { t } = useTranslation();
  const project = useCurrentProject();
  const going = { group: "go" as const };
  const views = VIEWS.map(({ name, icon, key, path }) => ({
    ...going,
    id: `view ${name}`,
    icon,
    words: t(`nav.${name}`),
    more: name,
    aside: `${project?.name ?? ""} · g ${key}`,
    run: () => void navigate({ to: addressOf(project?.project_id ?? "", path) }),
  }));
  return [
    ...(project === undefined ? [] : views),
    { ...going, id: "all", icon: Layers, words: t("app.all"), more: "home", run: () => void navigate({ to: "/" }) },
    {
      ...going,
      id: "settings",
      icon: Settings,
      words: t("nav.settings"),
      aside: "g ,",
      run: () => void navigate({ to: "/settings" }),
    },
  ];
}

function useSavedViews(): PaletteCommand[] {
  const { t } = useTranslation();
  const project = useCurrentProject();
  return useSaved(project?.project_id).map((each) => ({
    id: `saved ${each.view_id}`,
    group: "go" as const,
    icon: viewOf(each)?.icon ?? Bookmark,
    words: each.name,
    more: `${each.q} ${t("saved.title")}`,
    aside: [t(`nav.${each.view}`), ...(each.count === null ? [] : [each.count])].join(" · "),
    run: () => void navigate(leadsTo(each)),
  }));
}

/** Every task that is read here. `act`: only those that it can be done with, and choosing one does it. */
export function useTaskCommands(act?: ActName): PaletteCommand[] {
  const { t } = useTranslation();
  const openTask = useOpenTask();
  const writes = useWrites();
  const open = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const declared = TASK_ACTS.find((each) => each.name === act);
  return useQueries({ queries: open.map((each) => board(each.project_id)) }).flatMap(({ data }, place) =>
    (data?.tasks ?? []).flatMap((card) => {
      const project = open[place];
      const task = { ...card, project_id: project?.project_id ?? "" };
      if (declared !== undefined && !offers(declared, task, NOT_ASKED, writes)) return [];
      return {
        id: `task ${task.task_id}`,
        group: "tasks" as const,
        icon: CircleDot,
        words: task.title,
        more: `${task.task_id} ${project?.name ?? ""}`,
        aside: t(`status.${task.status}`),
        task,
        ...(declared === undefined
          ? { run: () => openTask(task.task_id) }
          : { next: stepOf(declared.name, declared.how, task) }),
      };
    }),
  );
}

/** What follows on an act that is chosen for a task; an act that is done at once follows on nothing. */
export function stepOf(act: ActName, how: string, task: Subject): Step {
  if (how === "words") return { kind: "words", act, task };
  if (act === "assign" || act === "priority") return { kind: "value", act, task };
  return { kind: "task", task };
}

function useAgents(): PaletteCommand[] {
  const { t } = useTranslation();
  return (useQuery(agents).data ?? []).map((agent) => ({
    id: `agent ${agent.agent_id}`,
    group: "agents" as const,
    icon: agent.kind === "human" ? User : Bot,
    words: agent.name,
    more: agent.agent_id,
    aside: t(`role.${agent.role}`),
    next: { kind: "agent" as const, agentId: agent.agent_id },
  }));
}

function usePeople(): PaletteCommand[] {
  const owns = useMay()("own");
  const known = new Set((useQuery(agents).data ?? []).map((each) => each.agent_id));
  const all = useQuery({ ...people, enabled: owns }).data ?? [];
  return all
    .filter((each) => !known.has(each.person_id))
    .map((each) => ({
      id: `person ${each.person_id}`,
      group: "agents" as const,
      icon: User,
      words: each.name,
      more: each.person_id,
      run: () => void navigate({ to: "/settings", search: { tab: "people" } }),
    }));
}

function useProjects(): PaletteCommand[] {
  const { t } = useTranslation();
  return (useQuery(projects).data ?? []).map((project) => ({
    id: `project ${project.project_id}`,
    group: "projects" as const,
    icon: FolderGit2,
    words: project.name,
    more: project.project_id,
    ...(project.status === "active" ? {} : { aside: t(`switcher.${project.status}`) }),
    next: { kind: "project" as const, projectId: project.project_id },
  }));
}
