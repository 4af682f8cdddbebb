// Draws what lies over the view: at most one of the frame's overlays, and the task that is open beside.
import { useLayoutEffect, useMemo } from "react";

import { useKeys, type Key } from "@/app/keys";
import { useWrites } from "@/app/may";
import { newTask, show, useOverlay } from "@/app/overlays";
import { useCurrentProject } from "@/app/going";
import { keptAt } from "@/app/past/past";
import { useProof } from "@/app/proof";
import { navigate, useSearch } from "@/app/routing";
import { VIEWS, addressOf } from "@/app/views";
import { withWords } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";
import { lateComponent } from "@/ui";

const lost = () => show(null);
const Palette = lateComponent(() => import("@/app/palette").then((part) => part.Palette), { lost });
const KeysHelp = lateComponent(() => import("@/app/keyshelp").then((part) => part.KeysHelp), { lost });
const NewTaskDialog = lateComponent(() => import("@/app/newtask").then((part) => part.NewTaskDialog), { lost });
const NewAgent = lateComponent(
  () => withWords("settings home", import("@/views/settings")).then((view) => view.NewAgent),
  {
    lost,
  },
);
const TaskSheet = lateComponent(
  () => withWords("task audit home", import("@/views/task")).then((view) => view.TaskSheet),
  {
    beside: true,
  },
);

const Prove = lateComponent(() => withWords("signin", import("@/views/signin")).then((view) => view.Prove), {
  lost: ({ done }) => done(false),
});

export function Overlays() {
  const overlay = useOverlay();
  const proof = useProof();
  const { task } = useSearch();
  useFrameKeys();
  return (
    <>
      {task !== undefined && <TaskSheet taskId={task} />}
      {overlay?.kind === "palette" && <Palette />}
      {overlay?.kind === "keys" && <KeysHelp />}
      {overlay?.kind === "new-agent" && <NewAgent projectId={overlay.projectId} close={() => show(null)} />}
      {overlay?.kind === "new-task" && <NewTaskDialog wanted={overlay.wanted} />}
      {proof !== undefined && <Prove done={proof} />}
    </>
  );
}

function useFrameKeys(): void {
  const { t } = useTranslation();
  const writes = useWrites();
  const projectId = useCurrentProject()?.project_id;
  const keys = useMemo<Key[]>(
    () => [
      ...(projectId === undefined ? [] : VIEWS).map(({ name, key, path }) => ({
        key: `g ${key}`,
        words: t(`nav.${name}`),
        run: () => {
          const to = addressOf(projectId ?? "", path);
          void navigate({ to, search: (known) => keptAt(to, known.at) });
        },
        last: true,
      })),
      { key: "g ,", words: t("nav.settings"), run: () => void navigate({ to: "/settings" }), last: true },
      ...(writes ? [{ key: "n", words: t("newTask.title"), run: () => newTask(), last: true }] : []),
      { key: "?", words: t("keys.title"), run: () => show({ kind: "keys" }), last: true },
    ],
    [t, writes, projectId],
  );
  useKeys(keys);
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey) return;
      event.preventDefault();
      show({ kind: "palette" });
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
