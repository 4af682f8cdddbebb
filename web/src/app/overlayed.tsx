// Draws what lies over the view: at most one of the frame's overlays, and the task that is open beside.
import { useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useEffect } from "react";

import { useKeys, type Key } from "@/app/keys";
import { KeysHelp } from "@/app/keyshelp";
import { useWrites } from "@/app/may";
import { NewTaskDialog } from "@/app/newtask";
import { newTask, show, useOverlay } from "@/app/overlays";
import { Palette } from "@/app/palette";

const TaskSheet = lazy(() => import("@/views/task").then((view) => ({ default: view.TaskSheet })));

export function Overlays() {
  const overlay = useOverlay();
  const { task } = useSearch({ strict: false });
  useFrameKeys();
  return (
    <>
      {task !== undefined && (
        <Suspense>
          <TaskSheet key={task} taskId={task} />
        </Suspense>
      )}
      {overlay?.kind === "palette" && <Palette />}
      {overlay?.kind === "keys" && <KeysHelp />}
      {overlay?.kind === "new-task" && <NewTaskDialog wanted={overlay.wanted} />}
    </>
  );
}

function useFrameKeys(): void {
  const { t } = useTranslation();
  const writes = useWrites();
  const keys = useMemo<Key[]>(
    () => [
      ...(writes ? [{ key: "n", words: t("newTask.title"), run: () => newTask(), last: true }] : []),
      { key: "?", words: t("keys.title"), run: () => show({ kind: "keys" }), last: true },
    ],
    [t, writes],
  );
  useKeys(keys);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey) return;
      event.preventDefault();
      show({ kind: "palette" });
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
