// The truth of the queue: what runs, what could, what waits, and what is held by what.
import { useState } from "react";

import type { QueueStatus } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, Countdown, Panel, StatusIcon, Told } from "@/ui";

const SHOWN = 8;

export function QueuePanel({ queue, projectId }: { queue: QueueStatus; projectId: string | null }) {
  const { t } = useTranslation("home");
  const [whole, setWhole] = useState(false);
  const shown = whole ? queue.held : queue.held.slice(0, SHOWN);
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
        {shown.map((each) => (
          <HeldRow key={each.task_id} held={each} />
        ))}
      </ul>
      {queue.held.length > SHOWN && (
        <div className="border-t border-line p-2 text-center">
          <Button look="quiet" small onClick={() => setWhole(!whole)}>
            {whole ? t("less") : t("app.more", { count: queue.held.length - SHOWN })}
          </Button>
        </div>
      )}
      {(whole || queue.held.length <= SHOWN) && hidden > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-faint">
          {projectId === null ? (
            t("heldMore", { count: hidden })
          ) : (
            <Link to="/p/$projectId/board" params={{ projectId }} className="link">
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
        <p className="break-words text-[13px] text-soft">
          <Told text={held.explanation} />
        </p>
        <p className="break-words text-xs text-faint">
          {t("released")}: <Told text={held.released_by} /> {held.until !== null && <Countdown until={held.until} />}
        </p>
      </div>
    </li>
  );
}
