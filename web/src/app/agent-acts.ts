// What can be done with an agent and with a project from anywhere, by the palette. Only what who looks may do.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  ArrowRightLeft,
  Bot,
  MessageSquareText,
  MessagesSquare,
  OctagonX,
  Pause,
  Play,
  Plus,
  Settings,
  TimerReset,
  UserPlus,
  Users,
} from "lucide-react";

import { activateAgent, resumeAgent, steerTask } from "@/api/actions";
import { deactivateAgent, endSession } from "@/api/agents";
import { moveProject } from "@/api/projects";
import { agents, needs, projects, sessions } from "@/api/queries";
import type { PaletteCommand } from "@/app/finding";
import { useCurrentProject } from "@/app/going";
import { useMay } from "@/app/may";
import { newAgent, newTask } from "@/app/overlays";
import { navigate, usePath } from "@/app/routing";
import { sameViewOf } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

/** Says what was done or refused, and reads again what it changes. */
function useSaid() {
  const client = useQueryClient();
  const toast = useToast();
  return (act: Promise<unknown>, words: string, undo?: () => void) =>
    void act
      .then(() => toast.done(words, undo))
      .catch(toast.failed)
      .finally(() => {
        for (const key of ["projects", "agents", "members", "overview", "why", "sessions"])
          void client.invalidateQueries({ queryKey: [key] });
      });
}

export function useAgentActs(agentId: string): PaletteCommand[] {
  const { t } = useTranslation();
  const may = useMay();
  const said = useSaid();
  const project = useCurrentProject()?.project_id ?? "";
  const agent = useQuery(agents).data?.find((each) => each.agent_id === agentId);
  const session = useSessionOf(agentId);
  const cools = (useQuery({ ...needs(project), enabled: project !== "" }).data ?? []).some(
    (each) => each.agent_id === agentId && each.actions.some(({ name }) => name === "resume"),
  );
  if (agent === undefined) return [];
  const { name } = agent;
  const ai = agent.kind === "ai";
  const active = agent.status === "active";
  const undo = { deactivate: () => said(activateAgent(agentId), t("acted.activated", { name })) };
  const to = (view: "chat" | "team") => () =>
    void navigate({ to: `/p/${encodeURIComponent(project)}/${view}`, search: { agent: agentId } });
  const act = (id: keyof typeof ICONS, more: Partial<PaletteCommand>): PaletteCommand => ({
    id,
    group: "values",
    icon: ICONS[id],
    words: t(`agentAct.${id}`),
    ...more,
  });
  const ICONS = {
    chat: MessagesSquare,
    tell: MessageSquareText,
    interrupt: OctagonX,
    deactivate: Pause,
    activate: Play,
    resume: TimerReset,
    why: Users,
    settings: Settings,
  };
  return [
    ...(ai && project !== "" ? [act("chat", { run: to("chat") })] : []),
    ...(may("write") && session?.task_id != null
      ? [act("tell", { next: { kind: "agent-words", act: "tell", agentId } })]
      : []),
    ...(may("write") && session !== undefined
      ? [act("interrupt", { next: { kind: "agent-words", act: "interrupt", agentId } })]
      : []),
    ...(may("write") && cools
      ? [act("resume", { run: () => said(resumeAgent(agentId), t("acted.resumed", { name })) })]
      : []),
    ...(may("own") && ai && active
      ? [
          act("deactivate", {
            run: () => said(deactivateAgent(agentId), t("acted.deactivated", { name }), undo.deactivate),
          }),
        ]
      : []),
    ...(may("own") && !active
      ? [act("activate", { run: () => said(activateAgent(agentId), t("acted.activated", { name })) })]
      : []),
    ...(project !== "" ? [act("why", { run: to("team") })] : []),
    ...(may("own") && ai
      ? [
          act("settings", {
            run: () => void navigate({ to: "/settings", search: { tab: "agents", agent: agentId } }),
          }),
        ]
      : []),
  ];
}

/** Its open session that works on a task, else one that talks. */
function useSessionOf(agentId: string) {
  const open = (useQuery(sessions(null)).data ?? []).filter((each) => each.agent_id === agentId && !each.ended_at);
  return open.find((each) => each.purpose === "task") ?? open[0];
}

/** Sends words to an agent that works, or ends its session with them as the reason. */
export function useAgentWords(agentId: string): (act: "tell" | "interrupt", words: string) => void {
  const { t } = useTranslation();
  const said = useSaid();
  const session = useSessionOf(agentId);
  const name = useQuery(agents).data?.find((each) => each.agent_id === agentId)?.name ?? agentId;
  return (act, words) => {
    if (session === undefined) return;
    if (act === "interrupt") said(endSession(session.session_id, words), t("acted.interrupted", { name }));
    else if (session.task_id !== null) said(steerTask(session.task_id, words), t("acted.steered", { to: name }));
  };
}

export function useProjectActs(projectId: string): PaletteCommand[] {
  const { t } = useTranslation();
  const path = usePath();
  const may = useMay();
  const said = useSaid();
  const project = useQuery(projects).data?.find((each) => each.project_id === projectId);
  if (project === undefined) return [];
  const { name, status } = project;
  const turn =
    (verb: "pause" | "resume", other: "pause" | "resume", words: (named: { name: string }) => string) => () =>
      said(moveProject(projectId, verb), words({ name }), () => said(moveProject(projectId, other), name));
  const settings = (search: Record<string, string>) => () => void navigate({ to: "/settings", search });
  const all: (PaletteCommand | false)[] = [
    {
      ...act("switch", ArrowRightLeft),
      run: () => void navigate({ to: sameViewOf(projectId, path) }),
    },
    may("write") &&
      status === "active" && {
        ...act("pause", Pause),
        run: turn("pause", "resume", (named) => t("acted.paused", named)),
      },
    may("write") &&
      status === "paused" && {
        ...act("resume", Play),
        run: turn("resume", "pause", (named) => t("acted.resumed", named)),
      },
    may("own") && { ...act("agent", Bot), run: () => newAgent(projectId) },
    may("own") && { ...act("invite", UserPlus), run: settings({ tab: "people", q: "new" }) },
    may("write") && { ...act("task", Plus), run: () => newTask({ projectId }) },
    { ...act("settings", Settings), run: settings({ tab: "projects", q: projectId }) },
  ];
  return all.filter((each) => each !== false);

  function act(id: "switch" | "pause" | "resume" | "agent" | "invite" | "task" | "settings", icon: typeof Bot) {
    return { id, group: "values" as const, icon, words: t(`projectAct.${id}`), aside: name };
  }
}
