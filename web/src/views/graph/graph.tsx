// What must be done before what: subtasks and dependencies as a graph, the critical path marked, links drawn by hand.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, Network, X } from "lucide-react";
import { useMemo, useState } from "react";

import type { BoardTask } from "@/api/model";
import { agents, board } from "@/api/queries";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { useNarrow } from "@/app/narrow";
import { OlderTasks, useEveryOpenTask } from "@/app/older";
import { PastClock, PastStrip, useCardsThen } from "@/app/past";
import { useParams } from "@/app/routing";
import { SaveView } from "@/app/saved";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Button, Empty, Failed, IconButton, Loading, Told } from "@/ui";

import { useAddress } from "./address";
import { Canvas } from "./canvas";
import { Chains } from "./chains";
import { chosen, criticalPath, heldUp, linksOf } from "./flow";
import { Inspector } from "./inspector";
import { useLayout } from "./layout";
import { useLinking, type Circle } from "./linking";
import { partsOf } from "./parts";
import { picture } from "./picture";
import { Tools } from "./tools";

export function Graph() {
  const { t } = useTranslation("graph");
  const { projectId = "" } = useParams();
  const known = useQuery(board(projectId));
  useEveryOpenTask(projectId);
  const { finished } = useAddress();
  const cards = useCardsThen(projectId, known.data?.tasks);
  if (known.isError && known.data === undefined)
    return <Failed error={known.error} retry={() => void known.refetch()} />;
  return (
    <div className="flex h-full flex-col">
      <Bar title={t("nav.graph", { ns: "translation" })}>
        <PastClock />
        {finished && <OlderTasks projectId={projectId} closedOnly />}
      </Bar>
      <PastStrip projectId={projectId} />
      {cards === undefined ? (
        <Loading rows={8} />
      ) : cards.length === 0 ? (
        <Empty icon={<Network size={28} />} title={t("empty")}>
          {t("emptyText")}
        </Empty>
      ) : (
        <Whole projectId={projectId} all={cards} />
      )}
    </div>
  );
}

/** This many without links are shown until somebody says otherwise. */
const FEW = 12;
const NONE: never[] = [];

function useGraph(all: BoardTask[], address: ReturnType<typeof useAddress>) {
  const { root, finished } = address;
  const tasks = useMemo(() => chosen(all, root, !finished), [all, root, finished]);
  const links = useMemo(() => linksOf(tasks), [tasks]);
  const { parts, loose } = useMemo(() => partsOf(tasks, links), [tasks, links]);
  const path = useMemo(() => criticalPath(tasks, links), [tasks, links]);
  const held = useMemo(() => heldUp(tasks, links), [tasks, links]);
  const looseShown = address.loose ?? loose.length <= FEW;
  const shown = useMemo(() => {
    const without = new Set(looseShown ? NONE : loose);
    return without.size === 0 ? tasks : tasks.filter((each) => !without.has(each));
  }, [tasks, loose, looseShown]);
  return { tasks, links, parts, loose, looseShown, shown, path, held };
}

function Whole({ projectId, all }: { projectId: string; all: BoardTask[] }) {
  const { t } = useTranslation("graph");
  const address = useAddress();
  const { root, finished, open } = address;
  const { tasks, links, parts, loose, looseShown, shown, path, held } = useGraph(all, address);
  const narrow = useNarrow(); // a phone is high: the graph runs down it
  const { layout, failed } = useLayout({
    of: [root, finished, looseShown, narrow].join(" "),
    parts: address.list ? NONE : parts,
    loose: looseShown && !address.list ? loose : NONE,
    downwards: narrow,
  });
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
        tasks: shown,
        links,
        places: layout.places,
        path,
        held,
        agents: byId,
        selected: at,
        selectedLink: link,
        circle: linking.circle?.ids ?? [],
        downwards: narrow,
        words: { dependency: t("dependency"), subtask: t("subtask") },
      }),
    [shown, links, layout, path, held, byId, at, link, linking.circle, narrow, t],
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
    <div className="flex min-h-0 flex-1 flex-col">
      <Tools {...{ address, all, parts, looseShown }} loose={loose.length} path={path.length}>
        <SaveView />
      </Tools>
      <div className="relative min-h-0 flex-1">
        {linking.circle !== null && <CircleAlarm circle={linking.circle} tasks={all} onClose={linking.forget} />}
        {tasks.length === 0 ? (
          <Empty title={t("nothing")}>{t("nothingText")}</Empty>
        ) : address.list ? (
          <Chains
            {...{ parts, loose, looseShown, held, at }}
            onLoose={address.setLoose}
            agents={byId}
            critical={new Set(path)}
            onChoose={setAt}
          />
        ) : drawn === null || layout === null ? (
          <Loading rows={6} />
        ) : shown.length === 0 ? (
          <Empty title={t("allLoose")}>{t("allLooseText", { count: loose.length })}</Empty>
        ) : (
          <Canvas
            {...drawn}
            fit={layout.of}
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
            onTree={root === chosenTask.root_task_id ? null : () => address.setRoot(chosenTask.root_task_id)}
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
        <p className="break-words text-soft">
          <Told text={circle.error.problem.instruction} />
        </p>
      </div>
      <IconButton label={t("close")} small onClick={onClose}>
        <X size={15} />
      </IconButton>
    </div>
  );
}
