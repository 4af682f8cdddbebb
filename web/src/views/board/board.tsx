// The board of a project: a column for every status, lanes by agent or parent. Cards are carried; the server decides.
import { DndContext, DragOverlay, MeasuringStrategy } from "@dnd-kit/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { SquareKanban } from "lucide-react";
import { useMemo, useRef, type ReactNode, type RefObject } from "react";
import { useTranslation } from "react-i18next";

import { matches } from "@/api/filter";
import type { BoardTask } from "@/api/model";
import { agents, board, projects } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useCursor } from "@/app/keys";
import { useWrites } from "@/app/may";
import { OlderTasks, useMoreTasks } from "@/app/older";
import { newTask } from "@/app/overlays";
import { AskWords, Bar, Button, Empty, Failed, Kbd, Loading } from "@/ui";
import { useAddress } from "@/views/board/address";
import { Face } from "@/views/board/card";
import { columnOf, underPointer, useAnnouncements, useCarrying } from "@/views/board/carrying";
import { Grid } from "@/views/board/grid";
import { HOW_TO_CARRY, Hand, type Press } from "@/views/board/hand";
import { useBoardKeys } from "@/views/board/keys";
import { lanes } from "@/views/board/lanes";
import { useMoving, type Moving } from "@/views/board/moving";
import { Toolbar } from "@/views/board/toolbar";

export function Board() {
  const { t } = useTranslation("board");
  const { projectId = "" } = useParams({ strict: false });
  const name = useQuery(projects).data?.find((each) => each.project_id === projectId)?.name;
  const known = useQuery(board(projectId));
  return (
    <>
      <Bar title={name === undefined ? t("nav.board") : `${name} · ${t("nav.board")}`}>
        <OlderTasks projectId={projectId} />
      </Bar>
      {known.isPending && <Loading rows={6} />}
      {known.isError && known.data === undefined && <Failed error={known.error} retry={() => void known.refetch()} />}
      {known.data !== undefined && <Cards projectId={projectId} tasks={known.data.tasks} />}
    </>
  );
}

const NO_AGENTS: never[] = [];
const MEASURING = { droppable: { strategy: MeasuringStrategy.Always } };

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
  const field = useRef<HTMLInputElement>(null);
  const press = useRef<Press>(null);
  const moving = useMoving(projectId);
  const more = useMoreTasks(projectId);
  const open = useOpenTask();
  useBoardKeys({ lanes: found, at: cursor.at, put: cursor.put, open, moving, field });
  const assignees = useMemo(() => {
    const used = new Set(tasks.map((each) => each.assignee_id));
    return team.filter((each) => used.has(each.agent_id)).map((each) => ({ id: each.agent_id, name: each.name }));
  }, [tasks, team]);
  if (tasks.length === 0) return <NoTask projectId={projectId} />;
  return (
    <div className="flex h-full flex-col">
      <Toolbar
        {...{ projectId, filter, by, assignees, field }}
        shown={shown.length}
        total={tasks.length}
        onFilter={setFilter}
        onBy={setBy}
      />
      {shown.length === 0 && <Empty title={t("none")} />}
      <Carrying {...{ tasks, titles, names, moving, press }}>
        <Grid
          lanes={found}
          by={by}
          titles={order}
          more={more}
          {...{ names, press, at: cursor.at, carried: moving.carried, onOpen: open, onSelect: cursor.put }}
        />
      </Carrying>
      <Asking moving={moving} />
    </div>
  );
}

interface CarryingProps {
  tasks: BoardTask[];
  titles: Map<string, string>;
  names: Map<string, string>;
  moving: Moving;
  press: RefObject<Press | null>;
  children: ReactNode;
}

function Carrying({ tasks, titles, names, moving, press, children }: CarryingProps) {
  const { t } = useTranslation("board");
  const announcements = useAnnouncements((id) => titles.get(id) ?? id);
  const card = moving.carried?.card;
  return (
    <DndContext
      id={HOW_TO_CARRY}
      sensors={useCarrying()}
      collisionDetection={underPointer}
      measuring={MEASURING}
      accessibility={{ announcements, screenReaderInstructions: { draggable: t("drag.how") } }}
      onDragStart={({ active }) => {
        const picked = tasks.find((each) => each.task_id === active.id);
        if (picked !== undefined) moving.pick(picked);
      }}
      onDragEnd={({ over }) => moving.drop(columnOf(over?.id))}
      onDragCancel={() => moving.drop(null)}
    >
      <Hand press={press} />
      {children}
      <DragOverlay dropAnimation={null}>
        {card !== undefined && (
          <Face card={card} who={names.get(card.assignee_id ?? "") ?? card.assignee_id} t={t} carried />
        )}
      </DragOverlay>
    </DndContext>
  );
}

function Asking({ moving: { asking, said, close } }: { moving: Moving }) {
  const { t } = useTranslation("board");
  if (asking === null) return null;
  const action = asking.to === "rejected" ? t("reject") : t(`status.${asking.to}`);
  return (
    <AskWords
      title={t("reasonTitle", { status: action, title: asking.card.title })}
      label={t(asking.required ? "reason" : "reasonOrNone")}
      action={asking.to === "rejected" ? t("reject") : t("move")}
      required={asking.required}
      danger={asking.to !== "blocked"}
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
