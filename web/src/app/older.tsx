// Loads the tasks of a project that were closed earlier than those that are shown: for every view that shows the board.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { readOlder } from "@/api/boards";
import { board } from "@/api/queries";
import { Button, useToast } from "@/ui";

export function OlderTasks({ projectId }: { projectId: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const older = useQuery(board(projectId)).data?.older ?? null;
  const [reading, setReading] = useState(false);
  if (older === null) return null;
  const load = () => {
    setReading(true);
    void readOlder(client, board(projectId).queryKey, projectId)
      .catch(toast.failed)
      .finally(() => setReading(false));
  };
  return (
    <Button small disabled={reading} onClick={load} title={t("older.why")}>
      {t("older.load")}
    </Button>
  );
}
