// The truth of the queue: what runs, what could, what waits, and what is held by what.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { QueueStatus } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { Panel, StatusIcon } from "@/ui";

export function QueuePanel({ queue, projectId }: { queue: QueueStatus; projectId: string | null }) {
  const { t } = useTranslation("home");
  const hidden = queue.held_in_all - queue.held.length;
  return (
    <Panel title={t("queue")}>
      <dl className="grid grid-cols-4 gap-px border-b border-line bg-line">
        {(["running", "ready", "waiting"] as const).map((name) => (
          <Figure key={name} name={t(name)} count={queue[name]} />
        ))}
        <Figure name={t("held")} count={queue.held_in_all} />
      </dl>
      {queue.held.length === 0 && <p className="px-4 py-6 text-center text-soft">{t("heldNone")}</p>}
      <ul className="divide-y divide-line">
        {queue.held.map((each) => (
          <HeldRow key={each.task_id} held={each} />
        ))}
      </ul>
      {hidden > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-faint">
          {projectId === null ? (
            t("heldMore", { count: hidden })
          ) : (
            <Link to="/p/$projectId/board" params={{ projectId }} className="text-accent hover:underline">
              {t("heldMore", { count: hidden })}
            </Link>
          )}
        </p>
      )}
    </Panel>
  );
}

function Figure({ name, count }: { name: string; count: number }) {
  return (
    <div className="bg-panel px-4 py-2.5">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{count}</dd>
    </div>
  );
}

function HeldRow({ held }: { held: QueueStatus["held"][number] }) {
  const { t } = useTranslation("home");
  const openTask = useOpenTask();
  return (
    <li className="flex gap-3 px-4 py-2.5">
      <span className="pt-0.5">
        <StatusIcon status={held.status} />
      </span>
      <div className="min-w-0 flex-1">
        <button
          type="button"
          className="max-w-full truncate text-left font-medium hover:underline"
          onClick={() => openTask(held.task_id)}
        >
          {held.title}
        </button>
        <p className="break-words text-[13px] text-soft">{held.explanation}</p>
        <p className="break-words text-xs text-faint">
          {t("released")}: {held.released_by}
        </p>
      </div>
    </li>
  );
}
