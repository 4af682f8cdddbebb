// The board of a project: a column for every status, lanes by agent or parent. Cards are carried; the server decides.
import { useQuery } from "@tanstack/react-query";
import { SquareKanban } from "lucide-react";
import { useMemo, useRef } from "react";

import { matches } from "@/api/filter";
import type { BoardTask } from "@/api/model";
import { agents, board, moves } from "@/api/queries";
import { Bulk, useMarks } from "@/app/bulk";
import { useChoosing } from "@/app/chosen";
import { useOpenTask } from "@/app/going";
import { useCursor } from "@/app/keys";
import { useWrites } from "@/app/may";
import { OlderTasks, useMoreTasks } from "@/app/older";
import { newTask } from "@/app/overlays";
import { PastClock, PastStrip, useCardsThen } from "@/app/past";
import { useParams } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { AskWords, Bar, Button, Empty, Failed, HoldsKeys, Kbd, Loading } from "@/ui";
import { useAddress } from "@/views/board/address";
import { useFolds } from "@/views/board/folds";
import { Grid } from "@/views/board/grid";
import { useHand } from "@/views/board/hand";
import { useBoardKeys } from "@/views/board/keys";
import { inOrder, lanes, without } from "@/views/board/lanes";
import { useMoving, type Asking as Asked, type Moving } from "@/views/board/moving";
import { HOW_TO_CARRY } from "@/views/board/press";
import { Toolbar } from "@/views/board/toolbar";

export function Board() {
  const { t } = useTranslation("board");
  const { projectId = "" } = useParams();
  const known = useQuery(board(projectId));
  const cards = useCardsThen(projectId, known.data?.tasks);
  return (
    <div className="flex h-full flex-col">
      <Bar title={t("nav.board")}>
        <PastClock />
        <OlderTasks projectId={projectId} />
      </Bar>
      <PastStrip projectId={projectId} />
      {known.isPending && <Loading rows={6} />}
      {known.isError && known.data === undefined && <Failed error={known.error} retry={() => void known.refetch()} />}
      {cards !== undefined && (
        <div className="min-h-0 flex-1">
          <Cards key={projectId} projectId={projectId} tasks={cards} />
        </div>
      )}
    </div>
  );
}

const NO_AGENTS: never[] = [];

function Cards({ projectId, tasks }: { projectId: string; tasks: BoardTask[] }) {
  const { t } = useTranslation("board");
  const { filter, by, setFilter, setBy } = useAddress();
  const team = useQuery(agents).data ?? NO_AGENTS;
  const names = useMemo(() => new Map(team.map((each) => [each.agent_id, each.name])), [team]);
  const titles = useMemo(() => new Map(tasks.map((each) => [each.task_id, each.title])), [tasks]);
  const shown = useMemo(() => tasks.filter((each) => matches(each, filter)), [tasks, filter]);
  const order = by === "agent" ? names : titles;
  const found = useMemo(() => lanes(shown, by, [...order.keys()]), [shown, by, order]);
  const cursor = useCursor(useMemo(() => shown.map((each) => each.task_id), [shown]));
  useChoosing(cursor.at);
  const field = useRef<HTMLInputElement>(null);
  const { Carry, press, waiting, soon, taken } = useHand();
  const moving = useMoving(projectId);
  const more = useMoreTasks(projectId);
  const open = useOpenTask();
  const { folded, turn } = useFolds(tasks);
  const walked = useMemo(() => found.map((each) => without(each, folded)), [found, folded]);
  const marks = useMarks(useMemo(() => inOrder(walked), [walked]));
  const writes = useWrites();
  const chosen = shown.filter((each) => marks.marked.has(each.task_id));
  useBoardKeys({ lanes: walked, at: cursor.at, put: cursor.put, open, moving, field, marks });
  if (tasks.length === 0) return <NoTask projectId={projectId} />;
  return (
    <div className="relative flex h-full flex-col" onPointerOver={soon} onFocus={soon}>
      <Toolbar
        {...{ projectId, filter, by, tasks, field }}
        agents={team}
        shown={shown.length}
        onFilter={setFilter}
        onBy={setBy}
      />
      {shown.length === 0 && <Empty title={t("none")} />}
      <Grid
        lanes={found}
        by={by}
        titles={order}
        more={more}
        folded={folded}
        onFold={turn}
        marked={marks.marked}
        onMark={writes ? marks.mark : null}
        {...{ names, press, at: cursor.at, carried: moving.carried, onOpen: open, onSelect: cursor.put }}
      />
      <p id={HOW_TO_CARRY} hidden>
        {t("drag.how")}
      </p>
      {Carry !== undefined && <Carry {...{ tasks, titles, names, moving, press, waiting, taken }} />}
      {waiting?.key !== undefined && <HoldsKeys />}
      <Asking moving={moving} />
      {writes && <Bulk projectId={projectId} tasks={chosen} agents={team} onNone={marks.none} onKeep={marks.keep} />}
    </div>
  );
}

function Asking({ moving: { asking, said, close } }: { moving: Moving }) {
  return asking !== null && <Reason {...{ asking, said, close }} />;
}

/** Who may do everything may leave it out: the server's answer may come later than the card was dropped. */
function Reason({ asking: { card, to }, said, close }: Pick<Moving, "said" | "close"> & { asking: Asked }) {
  const { t } = useTranslation("board");
  const known = useQuery({ ...moves(card.task_id), enabled: to !== "rejected" }).data?.moves;
  const required = known?.find((each) => each.status === to)?.needs_reason ?? true;
  const action = to === "rejected" ? t("reject") : t(`status.${to}`);
  return (
    <AskWords
      title={t("reasonTitle", { status: action, title: card.title })}
      label={t(required ? "reason" : "reasonOrNone")}
      action={to === "rejected" ? t("reject") : t("move")}
      required={required}
      danger={to !== "blocked"}
      onSaid={said}
      onClose={close}
    />
  );
}

function NoTask({ projectId }: { projectId: string }) {
  const { t } = useTranslation("board");
  return (
    <Empty icon={<SquareKanban size={28} />} title={t("empty")}>
      <p className="mb-3">{t("emptyMore")}</p>
      {useWrites() && (
        <Button look="primary" onClick={() => newTask({ projectId })}>
          {t("newTask.title")} <Kbd>n</Kbd>
        </Button>
      )}
    </Empty>
  );
}
