// What the palette offers: things to do, views, tasks, agents and projects. Finding among them is here too.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Bot,
  CircleDot,
  FolderGit2,
  Keyboard,
  Languages,
  LayoutDashboard,
  Moon,
  Plus,
  Settings,
  Sun,
  User,
  type LucideIcon,
} from "lucide-react";
import { useTranslation } from "react-i18next";

import { agents, board, projects } from "@/api/queries";
import { useCurrentProject, useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { newTask, show } from "@/app/overlays";
import { chooseTheme } from "@/app/theme";
import { VIEWS } from "@/app/views";
import { chooseLanguage } from "@/i18n";

export type Group = "do" | "go" | "tasks" | "agents" | "projects";

export interface PaletteCommand {
  id: string;
  group: Group;
  icon: LucideIcon;
  words: string;
  aside?: string;
  /** What else it is found by. */
  more?: string;
  run: () => void;
}

const ORDER: readonly Group[] = ["do", "go", "tasks", "agents", "projects"];
const SHOWN: Record<Group, number> = { do: 8, go: 14, tasks: 20, agents: 10, projects: 10 };

/** The commands that have every word of what is asked, by group; without a question only a few of each. */
export function found(all: readonly PaletteCommand[], asked: string): { group: Group; commands: PaletteCommand[] }[] {
  const words = asked.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return ORDER.map((group) => {
    const fitting = all.filter((each) => each.group === group && fits(each, words));
    const most = words.length === 0 && group === "tasks" ? 5 : SHOWN[group];
    return { group, commands: ranked(fitting, words).slice(0, most) };
  }).filter(({ commands }) => commands.length > 0);
}

function fits(command: PaletteCommand, words: string[]): boolean {
  const text = `${command.words} ${command.more ?? ""} ${command.aside ?? ""}`.toLocaleLowerCase();
  return words.every((each) => text.includes(each));
}

/** What begins with the first word stands before what only contains it. */
function ranked(commands: PaletteCommand[], [first]: string[]): PaletteCommand[] {
  if (first === undefined) return commands;
  const late = (each: PaletteCommand) => (each.words.toLocaleLowerCase().startsWith(first) ? 0 : 1);
  return commands.toSorted((one, other) => late(one) - late(other));
}

export function useCommands(): PaletteCommand[] {
  return [...useThings(), ...useViews(), ...useTasks(), ...useAgents(), ...useProjects()];
}

function useThings(): PaletteCommand[] {
  const { t } = useTranslation();
  const writes = useWrites();
  const doing = { group: "do" as const };
  const filing = { ...doing, id: "new-task", icon: Plus, words: t("newTask.title"), aside: "n", run: () => newTask() };
  return [
    ...(writes ? [filing] : []),
    { ...doing, id: "keys", icon: Keyboard, words: t("keys.title"), aside: "?", run: () => show({ kind: "keys" }) },
    { ...doing, id: "light", icon: Sun, words: t("palette.light"), run: () => chooseTheme("light") },
    { ...doing, id: "dark", icon: Moon, words: t("palette.dark"), run: () => chooseTheme("dark") },
    { ...doing, id: "en", icon: Languages, words: "English", more: "language 言語", run: () => chooseLanguage("en") },
    { ...doing, id: "ja", icon: Languages, words: "日本語", more: "japanese nihongo", run: () => chooseLanguage("ja") },
  ];
}

function useViews(): PaletteCommand[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const project = useCurrentProject();
  const going = { group: "go" as const };
  const views = VIEWS.map(([name, icon]) => ({
    ...going,
    id: `view ${name}`,
    icon,
    words: t(`nav.${name}`),
    more: name,
    ...(project === undefined ? {} : { aside: project.name }),
    run: () => void navigate({ to: `/p/${project?.project_id ?? ""}/${name}` }),
  }));
  return [
    {
      ...going,
      id: "home",
      icon: LayoutDashboard,
      words: t("nav.home"),
      more: "home",
      run: () => void navigate({ to: "/" }),
    },
    ...(project === undefined ? [] : views),
    {
      ...going,
      id: "settings",
      icon: Settings,
      words: t("nav.settings"),
      run: () => void navigate({ to: "/settings" }),
    },
  ];
}

function useTasks(): PaletteCommand[] {
  const { t } = useTranslation();
  const openTask = useOpenTask();
  const open = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  return useQueries({ queries: open.map((each) => board(each.project_id)) }).flatMap(({ data }, place) =>
    (data?.tasks ?? []).map((task) => ({
      id: `task ${task.task_id}`,
      group: "tasks" as const,
      icon: CircleDot,
      words: task.title,
      more: `${task.task_id} ${open[place]?.name ?? ""}`,
      aside: t(`status.${task.status}`),
      run: () => openTask(task.task_id),
    })),
  );
}

function useAgents(): PaletteCommand[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const project = useCurrentProject();
  return (useQuery(agents).data ?? []).map((agent) => ({
    id: `agent ${agent.agent_id}`,
    group: "agents" as const,
    icon: agent.kind === "human" ? User : Bot,
    words: agent.name,
    more: agent.agent_id,
    aside: t(`role.${agent.role}`),
    run: () =>
      project === undefined
        ? void navigate({ to: "/settings" })
        : void navigate({
            to: "/p/$projectId/team",
            params: { projectId: project.project_id },
            search: { agent: agent.agent_id },
          }),
  }));
}

function useProjects(): PaletteCommand[] {
  const navigate = useNavigate();
  return (useQuery(projects).data ?? []).map((project) => ({
    id: `project ${project.project_id}`,
    group: "projects" as const,
    icon: FolderGit2,
    words: project.name,
    more: project.project_id,
    run: () => void navigate({ to: "/p/$projectId", params: { projectId: project.project_id } }),
  }));
}
