// What ran when, and why nothing did: launches and tasks per agent, live; and the way back through the event log.
import { useQuery } from "@tanstack/react-query";
import { ChartNoAxesGantt } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { matches, parsed, written, type Filter } from "@/api/filter";
import type { Agent, BoardTask, Launch } from "@/api/model";
import { board, launches, members, overview, usage } from "@/api/queries";
import { launchHistory } from "@/api/whole-lists";
import { OlderTasks } from "@/app/older";
import { PastClock, PastStrip, useCardsThen, useLog, usePast } from "@/app/past";
import { say, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar as TopBar, Empty, Failed, Loading, useNow } from "@/ui";

import { Chart } from "./chart";
import { Details } from "./details";
import { holdsAt, holdsOf, holdsUntilNow } from "./holds";
import { allOf, extentOf, firstOf, lanesOf, launchesAt, launchesOf } from "./lanes";
import { Request } from "./request";
import { spanOf, wheeled, zoomOf, type Zoom } from "./scale";
import { Toolbar } from "./toolbar";

export function Timeline() {
  const { t } = useTranslation("timeline");
  const { projectId = "" } = useParams();
  const tasks = useQuery(board(projectId));
  const started = useQuery(launches({ project_id: projectId }));
  const before = useQuery(launchHistory(projectId));
  const team = useQuery(members(projectId));
  const failed = [tasks, started, before, team].find((each) => each.isError);
  const ever = useMemo(() => allOf(started.data ?? [], before.data ?? []), [started.data, before.data]);
  const cards = useCardsThen(projectId, tasks.data?.tasks);
  return (
    <div className="flex h-full flex-col">
      <TopBar title={t("nav.timeline", { ns: "translation" })}>
        <PastClock />
        <OlderTasks projectId={projectId} />
      </TopBar>
      <PastStrip projectId={projectId} />
      {failed !== undefined ? (
        <Failed error={failed.error} retry={() => void failed.refetch()} />
      ) : cards && started.data && before.data && team.data ? (
        <Lanes projectId={projectId} tasks={cards} started={ever} team={team.data} />
      ) : (
        <Loading rows={8} />
      )}
    </div>
  );
}

function useAddress() {
  const { by, q = "", trace } = useSearch();
  const replace = { replace: true };
  return {
    zoom: zoomOf(by),
    filter: useMemo(() => parsed(q), [q]),
    request: trace,
    setZoom: (next: Zoom) => say({ by: next === "fit" ? undefined : next }, replace),
    setFilter: (next: Filter) => say({ q: written(next) }, replace),
    setRequest: (next: string | undefined) => say({ trace: next }),
    open: (taskId: string) => say({ task: taskId }),
  };
}

const QUIET_MS = 250;

/** The zoom of the address; while the wheel turns, that of the wheel, which is written there when it stands still. */
function useZoom(wanted: Zoom, setZoom: (next: Zoom) => void, { begins, ends }: ReturnType<typeof extentOf>) {
  const [turned, setTurned] = useState<{ to: Zoom; from: Zoom } | null>(null);
  const turning = turned !== null && (wanted === turned.from || wanted === turned.to);
  const zoom = turning ? turned.to : wanted;
  useEffect(() => {
    if (!turning || turned.to === wanted) return;
    const timer = window.setTimeout(() => setZoom(turned.to), QUIET_MS);
    return () => window.clearTimeout(timer);
  });
  const onWheel = (pixels: number) =>
    setTurned((before) => {
      const at = turning && before !== null ? before.to : wanted;
      return { to: wheeled(spanOf(at, begins, ends), pixels, begins, ends), from: wanted };
    });
  const choose = (next: Zoom) => {
    setTurned(null);
    setZoom(next);
  };
  return { zoom, onWheel, choose };
}

interface LanesProps {
  projectId: string;
  tasks: readonly BoardTask[];
  started: readonly Launch[];
  team: readonly Agent[];
}

function Lanes({ projectId, tasks, started, team }: LanesProps) {
  const { t } = useTranslation("timeline");
  const { zoom: wanted, filter, request, setZoom, setFilter, setRequest, open } = useAddress();
  const now = useNow();
  const narrowed = written(filter) !== undefined;
  const shown = useMemo(() => tasks.filter((each) => matches(each, filter)), [tasks, filter]);
  const ran = useMemo(
    () => (narrowed ? launchesOf(started, new Set(shown.map((each) => each.task_id))) : started),
    [narrowed, started, shown],
  );
  const first = firstOf(ran, shown, now);
  const [asked, setAsked] = useState(0);
  const [chosen, setChosen] = useState<string | null>(null);
  const { at: then, go } = usePast();
  const used = useQuery(usage({ project_id: projectId, by: ["launch"] })).data?.rows;
  const decisions = useLog(projectId, "decision.launch").data;
  const states = useQuery(overview(projectId)).data?.team;
  const recorded = useMemo(() => holdsOf(decisions ?? []), [decisions]);
  const holds = useMemo(
    () => (then === null ? holdsUntilNow(recorded, states ?? [], started) : holdsAt(recorded, then)),
    [recorded, states, started, then],
  );
  const minute = Math.floor(now / 5000) * 5000; // bars that end stay where they are: packing them again is cheap, not free
  const until = then ?? minute;
  const seen = useMemo(() => (then === null ? ran : launchesAt(ran, then)), [ran, then]);
  const lanes = useMemo(() => {
    const all = lanesOf(team, seen, shown, used ?? [], until);
    return narrowed ? all.filter((each) => each.bars.length > 0) : all;
  }, [team, seen, shown, used, until, narrowed]);
  const extent = useMemo(() => extentOf(lanes, minute), [lanes, minute]);
  const { zoom, onWheel, choose } = useZoom(wanted, setZoom, extent);

  const lane = lanes.find((each) => each.bars.some(({ bar }) => bar.id === chosen));
  const bar = lane?.bars.find((each) => each.bar.id === chosen)?.bar;
  const ofTask = bar?.kind === "task" ? bar.task.task_id : bar?.launch.task_id;
  return (
    <>
      <Toolbar
        {...{ filter, tasks, zoom }}
        onFilter={setFilter}
        agents={team}
        shown={shown.length}
        onZoom={choose}
        onNow={() => {
          if (then !== null) go(null);
          setAsked(asked + 1);
        }}
        onTrace={setRequest}
      />
      {lanes.length === 0 ? (
        <Empty icon={<ChartNoAxesGantt size={28} />} title={t(narrowed ? "nothing" : "empty")}>
          {!narrowed && t("emptyText")}
        </Empty>
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <Chart
            lanes={lanes}
            holds={holds}
            zoom={zoom}
            first={first}
            extent={extent}
            now={now}
            then={then}
            asked={asked}
            chosen={chosen}
            onChoose={(next) => setChosen(next.id)}
            onWheel={onWheel}
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
