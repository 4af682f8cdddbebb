// What ran when, and why nothing did: launches and tasks per agent, live; and the way back through the event log.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChartNoAxesGantt } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Agent, BoardTask, Launch } from "@/api/model";
import { board, launchHistory, launches, members, overview, usage } from "@/api/queries";
import { OlderTasks } from "@/app/older";
import { Bar as TopBar, Empty, Failed, Loading, useNow } from "@/ui";

import { Chart } from "./chart";
import { Details } from "./details";
import { allOf, firstOf, lanesOf } from "./lanes";
import { holdsOf, holdsUntilNow } from "./past";
import { Replay } from "./replay";
import { Request } from "./request";
import { ZOOMS, zoomFor, type Zoom } from "./scale";
import { Toolbar } from "./toolbar";
import { useLog } from "./use-log";

export function Timeline() {
  const { t } = useTranslation("timeline");
  const { projectId = "" } = useParams({ strict: false });
  const tasks = useQuery(board(projectId));
  const started = useQuery(launches({ project_id: projectId }));
  const before = useQuery(launchHistory(projectId));
  const team = useQuery(members(projectId));
  const failed = [tasks, started, before, team].find((each) => each.isError);
  const ever = useMemo(() => allOf(started.data ?? [], before.data ?? []), [started.data, before.data]);
  return (
    <div className="flex h-full flex-col">
      <TopBar title={t("nav.timeline", { ns: "translation" })}>
        <OlderTasks projectId={projectId} />
      </TopBar>
      {failed !== undefined ? (
        <Failed error={failed.error} retry={() => void failed.refetch()} />
      ) : tasks.data && started.data && before.data && team.data ? (
        <Lanes projectId={projectId} tasks={tasks.data.tasks} started={ever} team={team.data} />
      ) : (
        <Loading rows={8} />
      )}
    </div>
  );
}

function useAddress() {
  const { by, q } = useSearch({ strict: false });
  const navigate = useNavigate();
  const say = (said: Record<string, string | undefined>) =>
    void navigate({ to: ".", search: (before) => ({ ...before, ...said }) as never });
  return {
    zoom: by !== undefined && by in ZOOMS ? (by as Zoom) : undefined,
    request: q,
    setZoom: (next: Zoom) => say({ by: next }),
    setRequest: (next: string | undefined) => say({ q: next }),
    open: (taskId: string) => say({ task: taskId }),
  };
}

interface LanesProps {
  projectId: string;
  tasks: readonly BoardTask[];
  started: readonly Launch[];
  team: readonly Agent[];
}

function Lanes({ projectId, tasks, started, team }: LanesProps) {
  const { t } = useTranslation("timeline");
  const { zoom: wanted, request, setZoom, setRequest, open } = useAddress();
  const now = useNow();
  const first = firstOf(started, tasks, now);
  const [fitting] = useState(() => zoomFor(first, now));
  const zoom = wanted ?? fitting;
  const [asked, setAsked] = useState(0);
  const [chosen, setChosen] = useState<string | null>(null);
  const [replaying, setReplaying] = useState(false);
  const [then, setThen] = useState<number | null>(null);
  const used = useQuery(usage({ project_id: projectId, by: ["launch"] })).data?.rows;
  const decisions = useLog(projectId, "decision.launch").data;
  const happened = useLog(projectId, "task.").data;
  const states = useQuery(overview(projectId)).data?.team;
  const holds = useMemo(
    () => holdsUntilNow(holdsOf(decisions ?? []), states ?? [], started),
    [decisions, states, started],
  );
  const titles = useMemo(() => new Map(tasks.map((each) => [each.task_id, each.title])), [tasks]);
  const minute = Math.floor(now / 5000) * 5000; // bars that end stay where they are: packing them again is cheap, not free
  const lanes = useMemo(() => lanesOf(team, started, tasks, used ?? [], minute), [team, started, tasks, used, minute]);
  const leave = useCallback(() => setReplaying(false), []);

  const lane = lanes.find((each) => each.bars.some(({ bar }) => bar.id === chosen));
  const bar = lane?.bars.find((each) => each.bar.id === chosen)?.bar;
  const ofTask = bar?.kind === "task" ? bar.task.task_id : bar?.launch.task_id;
  return (
    <>
      <Toolbar
        zoom={zoom}
        onZoom={setZoom}
        onNow={() => {
          setReplaying(false);
          setAsked(asked + 1);
        }}
        replaying={replaying}
        onReplay={() => setReplaying(!replaying)}
        onTrace={setRequest}
      />
      {replaying && happened !== undefined && (
        <Replay events={happened} titles={titles} onThen={setThen} onClose={leave} />
      )}
      {lanes.length === 0 ? (
        <Empty icon={<ChartNoAxesGantt size={28} />} title={t("empty")}>
          {t("emptyText")}
        </Empty>
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <Chart
            lanes={lanes}
            holds={holds}
            zoom={zoom}
            first={first}
            now={now}
            then={then}
            asked={asked}
            chosen={chosen}
            onChoose={(next) => setChosen(next.id)}
          />
          {bar !== undefined && (
            <Details
              bar={bar}
              who={lane?.name ?? ""}
              task={tasks.find((each) => each.task_id === ofTask)}
              onOpen={open}
              onTrace={setRequest}
              onClose={() => setChosen(null)}
            />
          )}
        </div>
      )}
      {request !== undefined && <Request id={request} onOpen={open} onClose={() => setRequest(undefined)} />}
    </>
  );
}
