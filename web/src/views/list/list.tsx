// The tasks of a project as rows: looked for, ordered, marked, and changed many at once.
import { useQuery } from "@tanstack/react-query";
import { ListTodo } from "lucide-react";
import { useMemo, useState } from "react";

import type { BoardTask } from "@/api/model";
import { agents, board } from "@/api/queries";
import { Bulk, useMarks } from "@/app/bulk";
import { useChoosing } from "@/app/chosen";
import { useCursor, useKeys } from "@/app/keys";
import { useNarrow } from "@/app/narrow";
import { useWrites } from "@/app/may";
import { OlderTasks } from "@/app/older";
import { useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Empty, Failed, Loading } from "@/ui";

import { matches } from "./filter";
import { Rows } from "./rows";
import { Toolbar } from "./toolbar";
import { useAddress, useVisibleColumns } from "./use-list";

export function List() {
  const { projectId = "" } = useParams();
  const { t } = useTranslation();
  const known = useQuery(board(projectId));
  return (
    <>
      <Bar title={t("nav.list")}>
        <OlderTasks projectId={projectId} />
      </Bar>
      {known.isPending && <Loading rows={8} />}
      {known.isError && <Failed error={known.error} retry={() => void known.refetch()} />}
      {known.isSuccess && <Tasks projectId={projectId} tasks={known.data.tasks} />}
    </>
  );
}

const NO_AGENTS: never[] = [];

function Tasks({ projectId, tasks }: { projectId: string; tasks: BoardTask[] }) {
  const { t } = useTranslation("list");
  const { filter, sort, setFilter, turn, open } = useAddress();
  const [visible, show] = useVisibleColumns();
  const narrow = useNarrow();
  const team = useQuery(agents).data ?? NO_AGENTS;
  const byId = useMemo(() => new Map(team.map((each) => [each.agent_id, each])), [team]);
  const found = useMemo(() => tasks.filter((each) => matches(each, filter)), [tasks, filter]);
  const [order, setOrder] = useState<string[]>([]);
  const { marked, mark, all, none, keep } = useMarks(order);
  const cursor = useCursor(order);
  useChoosing(cursor.at);
  const { task: shown } = useSearch();
  const writes = useWrites();
  const chosen = found.filter((each) => marked.has(each.task_id));

  const step = (by: number) => () => {
    const next = cursor.step(by);
    if (shown !== undefined && next !== null) open(next); // the panel shows it, too
  };
  useKeys([
    { key: "j", words: t("keys"), run: step(1) },
    { key: "ArrowDown", words: t("keys"), run: step(1) },
    { key: "k", words: t("keys"), run: step(-1) },
    { key: "ArrowUp", words: t("keys"), run: step(-1) },
    ...(writes
      ? [
          { key: "x", words: t("bulk.mark"), run: () => cursor.at !== null && mark(cursor.at, false) },
          { key: "X", words: t("bulk.mark"), run: () => cursor.at !== null && mark(cursor.at, true) },
        ]
      : []),
    { key: "Enter", words: t("openKey"), run: () => cursor.at !== null && open(cursor.at) },
    { key: "Escape", words: t("bulk.unselect"), run: none },
  ]);

  if (tasks.length === 0)
    return (
      <Empty icon={<ListTodo size={28} />} title={t("empty")}>
        {t("emptyText")}
      </Empty>
    );
  return (
    <div className="relative flex h-full flex-col">
      <Toolbar
        filter={filter}
        onFilter={setFilter}
        agents={team}
        visible={visible}
        onShow={show}
        found={found.length}
        tasks={tasks}
      />
      {found.length === 0 ? (
        <Empty title={t("none")}>{t("noneText", { total: tasks.length })}</Empty>
      ) : (
        <Rows
          tasks={found}
          agents={byId}
          narrow={narrow}
          sort={sort}
          onSort={turn}
          visible={visible}
          marked={marked}
          onMark={writes ? mark : null}
          onMarkAll={all}
          at={cursor.at}
          onOpen={open}
          onOrder={setOrder}
        />
      )}
      {writes && <Bulk projectId={projectId} tasks={chosen} agents={team} onNone={none} onKeep={keep} />}
    </div>
  );
}
