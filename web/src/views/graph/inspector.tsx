// The task that is chosen: what it waits for and what waits for it. Everything that can be dragged can be done here too.
import { ArrowUpRight, Link2Off, Network, X } from "lucide-react";
import { useState } from "react";

import type { BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Button, IconButton, StatusBadge, StatusIcon, Told } from "@/ui";

interface InspectorProps {
  task: BoardTask;
  tasks: readonly BoardTask[];
  onOpen: () => void;
  /** Null: only its tree is shown already. */
  onTree?: (() => void) | null;
  onClose: () => void;
  onChoose: (taskId: string) => void;
  /** Makes `to` depend on `from`. Null: the current user may not. */
  onLink: ((from: string, to: string) => void) | null;
  onUnlink: ((from: string, to: string) => void) | null;
}

export function Inspector(given: InspectorProps) {
  const { task, tasks, onOpen, onTree = null, onClose, onChoose, onLink, onUnlink } = given;
  const { t } = useTranslation("graph");
  const waitsFor = tasks.filter((each) => task.dependencies.includes(each.task_id));
  const waiting = tasks.filter((each) => each.dependencies.includes(task.task_id));
  return (
    <aside
      aria-label={task.title}
      className="absolute inset-x-2 bottom-2 z-10 flex max-h-[55%] flex-col gap-3 overflow-auto rounded-xl border border-line-strong bg-panel p-4 shadow-[var(--shadow)] sm:inset-x-auto sm:top-3 sm:right-3 sm:bottom-auto sm:max-h-[calc(100%-1.5rem)] sm:w-80"
    >
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1 space-y-1.5">
          <h2 className="font-semibold break-words">{task.title}</h2>
          <StatusBadge status={task.status} />
        </div>
        <IconButton label={t("close")} small onClick={onClose}>
          <X size={15} />
        </IconButton>
      </header>
      {task.blocked_reason !== null && (
        <p className="break-words text-amber">
          <Told text={task.blocked_reason} />
        </p>
      )}
      <Linked
        title={t("waitsFor")}
        empty={t("waitsForNothing")}
        tasks={waitsFor}
        onChoose={onChoose}
        unlink={onUnlink && ((other) => onUnlink(other.task_id, task.task_id))}
      />
      <Linked
        title={t("waiting")}
        empty={t("nothingWaits")}
        tasks={waiting}
        onChoose={onChoose}
        unlink={onUnlink && ((other) => onUnlink(task.task_id, other.task_id))}
      />
      {onLink !== null && <Finder task={task} tasks={tasks} onFound={(other) => onLink(other, task.task_id)} />}
      <Button look="primary" onClick={onOpen}>
        <ArrowUpRight size={15} aria-hidden />
        {t("open")}
      </Button>
      {onTree !== null && (
        <Button onClick={onTree}>
          <Network size={15} aria-hidden />
          {t("tree")}
        </Button>
      )}
    </aside>
  );
}

interface LinkedProps {
  title: string;
  empty: string;
  tasks: readonly BoardTask[];
  onChoose: (taskId: string) => void;
  unlink: ((other: BoardTask) => void) | null;
}

function Linked({ title, empty, tasks, onChoose, unlink }: LinkedProps) {
  const { t } = useTranslation("graph");
  return (
    <section>
      <h3 className="mb-1 text-xs text-faint">{title}</h3>
      {tasks.length === 0 && <p className="text-soft">{empty}</p>}
      <ul>
        {tasks.map((each) => (
          <li key={each.task_id} className="flex items-center gap-1">
            <button
              type="button"
              onClick={() => onChoose(each.task_id)}
              className="flex min-w-0 flex-1 items-center gap-2 rounded px-1 py-1 text-left hover:bg-sunken"
            >
              <StatusIcon status={each.status} />
              <span className="truncate">{each.title}</span>
            </button>
            {unlink !== null && (
              <IconButton label={t("unlink", { title: each.title })} small onClick={() => unlink(each)}>
                <Link2Off size={14} />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const SHOWN = 6;

interface FinderProps {
  task: BoardTask;
  tasks: readonly BoardTask[];
  onFound: (taskId: string) => void;
}

/** Searches the task that this one should depend on. */
function Finder({ task, tasks, onFound }: FinderProps) {
  const { t } = useTranslation("graph");
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const found = tasks
    .filter((each) => each.task_id !== task.task_id && !task.dependencies.includes(each.task_id))
    .filter((each) => wanted !== "" && `${each.title} ${each.task_id}`.toLowerCase().includes(wanted));
  return (
    <section>
      <input
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        aria-label={t("link")}
        placeholder={t("link")}
        className="h-8 w-full rounded-md border border-line-strong bg-panel px-2.5 placeholder:text-faint"
      />
      <ul className="mt-1">
        {found.slice(0, SHOWN).map((each) => (
          <li key={each.task_id}>
            <button
              type="button"
              className="flex w-full items-center gap-2 rounded px-1 py-1 text-left hover:bg-sunken"
              onClick={() => {
                setWords("");
                onFound(each.task_id);
              }}
            >
              <StatusIcon status={each.status} />
              <span className="truncate">{each.title}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
