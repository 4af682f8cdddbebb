// What must be done before what: subtasks and dependencies as a graph, the critical path marked, links drawn by hand.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { CircleAlert, Network, Route, X } from "lucide-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { BoardTask } from "@/api/model";
import { agents, board } from "@/api/queries";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { useNarrow } from "@/app/narrow";
import { OlderTasks } from "@/app/older";
import { Bar, Button, Empty, Failed, IconButton, Loading } from "@/ui";

import { Canvas } from "./canvas";
import { chosen, criticalPath, linksOf } from "./flow";
import { Inspector } from "./inspector";
import { useLayout } from "./layout";
import { useLinking, type Circle } from "./linking";
import { picture } from "./picture";

export function Graph() {
  const { t } = useTranslation("graph");
  const { projectId = "" } = useParams({ strict: false });
  const known = useQuery(board(projectId));
  if (known.isPending) return <Loading rows={8} />;
  if (known.isError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  if (known.data.tasks.length === 0)
    return (
      <Empty icon={<Network size={28} />} title={t("empty")}>
        {t("emptyText")}
      </Empty>
    );
  return <Whole projectId={projectId} all={known.data.tasks} />;
}

function useAddress() {
  const { by, q } = useSearch({ strict: false });
  const navigate = useNavigate();
  const say = (said: Record<string, string | undefined>) =>
    void navigate({ to: ".", search: (before) => ({ ...before, ...said }) as never, replace: true });
  return {
    root: by,
    openOnly: q === "open",
    setRoot: (next: string) => say({ by: next || undefined }),
    setOpenOnly: (next: boolean) => say({ q: next ? "open" : undefined }),
    open: (taskId: string) => void navigate({ to: ".", search: (before) => ({ ...before, task: taskId }) as never }),
  };
}

function Whole({ projectId, all }: { projectId: string; all: BoardTask[] }) {
  const { t } = useTranslation("graph");
  const address = useAddress();
  const { root, openOnly, open } = address;
  const tasks = useMemo(() => chosen(all, root, openOnly), [all, root, openOnly]);
  const links = useMemo(() => linksOf(tasks), [tasks]);
  const narrow = useNarrow(); // a phone is high: the graph runs down it
  const { layout, failed } = useLayout(tasks, links, narrow);
  const [at, setAt] = useState<string | null>(null);
  const [link, setLink] = useState<string | null>(null);
  const linking = useLinking(projectId, all);
  const writes = useWrites();
  const team = useQuery(agents).data;
  const byId = useMemo(() => new Map((team ?? []).map((each) => [each.agent_id, each])), [team]);
  const chosenTask = all.find((each) => each.task_id === at);
  const drawn = useMemo(
    () =>
      layout &&
      picture({
        tasks,
        links,
        layout,
        agents: byId,
        selected: at,
        selectedLink: link,
        circle: linking.circle?.ids ?? [],
        downwards: narrow,
        words: { dependency: t("dependency"), subtask: t("subtask") },
      }),
    [tasks, links, layout, byId, at, link, linking.circle, narrow, t],
  );
  const unlinkChosen = () => {
    const found = links.find((each) => each.id === link && each.kind === "dependency");
    if (found !== undefined) linking.unlink(found.from, found.to);
    setLink(null);
  };
  useKeys([
    ...(writes
      ? [
          { key: "Delete", words: t("unlinkKey"), run: unlinkChosen },
          { key: "Backspace", words: t("unlinkKey"), run: unlinkChosen },
        ]
      : []),
    { key: "Enter", words: t("openKey"), run: () => at !== null && open(at) },
    { key: "Escape", words: t("close"), run: () => setAt(null) },
  ]);

  if (failed !== null) return <Failed error={failed} />;
  return (
    <div className="flex h-full flex-col">
      <Bar title={t("nav.graph", { ns: "translation" })}>
        <OlderTasks projectId={projectId} />
      </Bar>
      <Tools all={all} {...address} path={criticalPath(tasks, links).length} />
      <div className="relative min-h-0 flex-1">
        {linking.circle !== null && <CircleAlarm circle={linking.circle} tasks={all} onClose={linking.forget} />}
        {tasks.length === 0 ? (
          <Empty title={t("nothing")}>{t("nothingText")}</Empty>
        ) : drawn === null ? (
          <Loading rows={6} />
        ) : (
          <Canvas
            {...drawn}
            fit={layout?.asked ?? ""}
            onChoose={setAt}
            onChooseLink={setLink}
            onOpen={open}
            onLink={writes ? linking.link : null}
          >
            <Legend writes={writes} />
          </Canvas>
        )}
        {writes && link?.startsWith("dependency:") && (
          <Button small className="absolute top-3 left-1/2 z-10 -translate-x-1/2" onClick={unlinkChosen}>
            <X size={14} aria-hidden />
            {t("unlinkKey")}
          </Button>
        )}
        {chosenTask !== undefined && (
          <Inspector
            task={chosenTask}
            tasks={all}
            onOpen={() => open(chosenTask.task_id)}
            onClose={() => setAt(null)}
            onChoose={setAt}
            onLink={writes ? linking.link : null}
            onUnlink={writes ? linking.unlink : null}
          />
        )}
      </div>
    </div>
  );
}

type ToolsProps = ReturnType<typeof useAddress> & { all: readonly BoardTask[]; path: number };

function Tools({ all, root, setRoot, openOnly, setOpenOnly, path }: ToolsProps) {
  const { t } = useTranslation("graph");
  const roots = all.filter((each) => each.parent_task_id === null);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
      <select
        aria-label={t("root")}
        value={root ?? ""}
        onChange={(event) => setRoot(event.target.value)}
        className="h-8 max-w-full min-w-0 rounded-md border border-line-strong bg-panel px-2 sm:max-w-80"
      >
        <option value="">{t("whole")}</option>
        {roots.map((each) => (
          <option key={each.task_id} value={each.task_id}>
            {each.title}
          </option>
        ))}
      </select>
      <label className="flex items-center gap-2 text-soft">
        <input
          type="checkbox"
          checked={!openOnly}
          onChange={(event) => setOpenOnly(!event.target.checked)}
          className="size-4 accent-[var(--accent)]"
        />
        {t("finished")}
      </label>
      {path > 1 && (
        <span className="flex items-center gap-1.5 text-xs text-accent">
          <Route size={14} aria-hidden />
          {t("legend.critical", { count: path })}
        </span>
      )}
    </div>
  );
}

function Legend({ writes }: { writes: boolean }) {
  const { t } = useTranslation("graph");
  return (
    <details className="absolute top-3 left-3 z-5 hidden max-w-64 rounded-lg border border-line bg-panel px-3 py-1.5 text-xs text-soft sm:block">
      <summary className="cursor-pointer">{t("legend.title")}</summary>
      <ul className="space-y-1.5 py-2">
        <li className="flex items-center gap-2">
          <Line dashed={false} />
          {t("legend.dependency")}
        </li>
        <li className="flex items-center gap-2">
          <Line dashed />
          {t("legend.subtask")}
        </li>
        {writes && <li>{t("legend.drag")}</li>}
      </ul>
    </details>
  );
}

function Line({ dashed }: { dashed: boolean }) {
  return (
    <svg width="34" height="8" aria-hidden className="shrink-0 text-faint">
      <path d="M0 4h27" stroke="currentColor" strokeWidth="1.5" strokeDasharray={dashed ? "5 4" : undefined} />
      <path d="M34 4l-8-3.5v7z" fill="currentColor" />
    </svg>
  );
}

/** The circle in the server's words, and as titles: the ids alone say little. */
function CircleAlarm({ circle, tasks, onClose }: { circle: Circle; tasks: readonly BoardTask[]; onClose: () => void }) {
  const { t } = useTranslation("graph");
  const title = (id: string) => tasks.find((each) => each.task_id === id)?.title ?? id;
  return (
    <div
      role="alert"
      className="absolute top-3 left-1/2 z-20 flex w-[calc(100%-1.5rem)] max-w-xl -translate-x-1/2 gap-3 rounded-xl border border-red bg-panel p-4 shadow-[var(--shadow)]"
    >
      <CircleAlert size={18} className="mt-0.5 shrink-0 text-red" aria-hidden />
      <div className="min-w-0 flex-1 space-y-1">
        <p className="font-medium">{t("circle")}</p>
        <p className="break-words text-red">{circle.ids.map(title).join(" → ")}</p>
        <p className="break-words text-soft">{circle.error.problem.instruction}</p>
      </div>
      <IconButton label={t("close")} className="size-7" onClick={onClose}>
        <X size={15} />
      </IconButton>
    </div>
  );
}
