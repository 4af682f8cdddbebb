// Loads the tasks of a project that are not shown yet: open ones that follow in their column, and tasks that were closed
// earlier. For every view that shows the board.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { notShown, readMore, readOlder } from "@/api/boards";
import type { TaskStatus } from "@/api/model";
import { board } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Button, useToast } from "@/ui";

/** `closedOnly`: the view reads the open ones by itself. */
export function OlderTasks({ projectId, closedOnly = false }: { projectId: string; closedOnly?: boolean }) {
  const { t } = useTranslation();
  const { hidden, reading, load } = useMoreTasks(projectId);
  const client = useQueryClient();
  const toast = useToast();
  const older = useQuery(board(projectId)).data?.older ?? null;
  const [readingOlder, setReadingOlder] = useState(false);
  const loadOlder = () => {
    setReadingOlder(true);
    void readOlder(client, board(projectId).queryKey, projectId)
      .catch(toast.failed)
      .finally(() => setReadingOlder(false));
  };
  const count = [...hidden.values()].reduce((sum, each) => sum + each, 0);
  return (
    <>
      {count > 0 && !closedOnly && (
        <Button small disabled={reading} onClick={() => load([...hidden.keys()])} title={t("older.openWhy")}>
          {t("older.open", { count })}
        </Button>
      )}
      {older !== null && (
        <Button small disabled={readingOlder} onClick={loadOlder} title={t("older.why")}>
          {t("older.load")}
        </Button>
      )}
    </>
  );
}

/** `hidden`: how many open tasks of each column are not shown yet; `load` reads the next ones of these columns. */
export function useMoreTasks(projectId: string) {
  const client = useQueryClient();
  const toast = useToast();
  const { data } = useQuery(board(projectId));
  const [reading, setReading] = useState(false);
  const load = (statuses: TaskStatus[], most?: number) => {
    setReading(true);
    void Promise.all(statuses.map((each) => readMore(client, board(projectId).queryKey, projectId, each, most)))
      .catch(toast.failed)
      .finally(() => setReading(false));
  };
  const hidden = useMemo(() => (data === undefined ? new Map<TaskStatus, number>() : notShown(data)), [data]);
  return { hidden, reading, load };
}

/** As many as the server answers at once. */
const AT_ONCE = 1000;

/** Reads all open tasks, page after page: for a view that would say something wrong about a part of them. What could not
 * be read is read again once something has changed. */
export function useEveryOpenTask(projectId: string): void {
  const { hidden, load } = useMoreTasks(projectId);
  const asked = useRef("");
  useEffect(() => {
    const wanted = [projectId, ...hidden].join(" ");
    if (hidden.size === 0 || asked.current === wanted) return;
    asked.current = wanted;
    load([...hidden.keys()], AT_ONCE);
  });
}
