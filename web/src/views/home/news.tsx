// What happened since the last visit, one task after the other: completed, failed, asked, merged, and what it cost.
import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";

import type { Since, TaskNews } from "@/api/model";
import { news } from "@/api/stories";
import { useOpenTask } from "@/app/going";
import { useKeys } from "@/app/keys";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Button, IconButton, StatusIcon, money, type Tone } from "@/ui";

const TORYO = "system:toryo";
const TONES: Record<TaskNews["moves"][number]["what"], Tone> = {
  ...({ completed: "green", failed: "red", cancelled: "plain", asked: "amber", blocked: "amber" } as const),
  ...({ decided: "blue", sent_back: "amber", merged: "violet", discarded: "plain" } as const),
};

export function NewsSteps({ since, projectId }: { since: Since; projectId: string | null }) {
  const { t } = useTranslation("home");
  // What ended meanwhile is read, too; every other event says nothing new here.
  const told = since.completed_in_all + since.failed_in_all + since.decided;
  const { data } = useQuery(news(projectId, since.at ?? "", told));
  const [chosen, setChosen] = useState<string | null>(null);
  const tasks = data?.tasks ?? [];
  const place = Math.max(
    0,
    tasks.findIndex((each) => each.task_id === chosen),
  );
  const step = (by: number) => setChosen(tasks[Math.min(tasks.length - 1, Math.max(0, place + by))]?.task_id ?? null);
  useKeys([
    { key: "[", words: t("news.back"), run: () => step(-1) },
    { key: "]", words: t("news.on"), run: () => step(1) },
  ]);
  const task = tasks[place];
  if (data === undefined || task === undefined) return null;
  return (
    <section aria-label={t("news.title")} className="border-t border-line px-4 py-2.5">
      <div className="flex items-center gap-1">
        <IconButton label={t("news.back")} disabled={place === 0} onClick={() => step(-1)}>
          <ChevronLeft size={16} />
        </IconButton>
        <span className="text-xs text-faint tabular-nums" role="status">
          {t("news.place", { place: place + 1, count: tasks.length })}
        </span>
        <IconButton
          label={t("news.on")}

          disabled={place === tasks.length - 1}
          onClick={() => step(1)}
        >
          <ChevronRight size={16} />
        </IconButton>
        {!data.complete && <span className="text-xs text-faint">{t("news.incomplete")}</span>}
      </div>
      <OneTask task={task} />
    </section>
  );
}

function OneTask({ task }: { task: TaskNews }) {
  const { t } = useTranslation("home");
  const open = useOpenTask();
  const names = useNames(task.project_id);
  return (
    <div className="space-y-2 py-1">
      <div className="flex items-center gap-2">
        <StatusIcon status={task.status} size={15} />
        <span className="min-w-0 flex-1 truncate font-medium">{task.title}</span>
        {task.cost_usd !== null && <span className="shrink-0 text-xs tabular-nums">{money(task.cost_usd)}</span>}
        <Button small onClick={() => open(task.task_id, "story")}>
          {t("news.story")}
        </Button>
      </div>
      <ol className="space-y-1">
        {task.moves.map((each) => (
          <li key={each.sequence} className="flex flex-wrap items-center gap-x-2 text-[13px]">
            <Badge tone={TONES[each.what]}>{t(`news.what.${each.what}`)}</Badge>
            <span className="min-w-0 truncate text-soft">
              {each.actor_id === TORYO ? t("app.name", { ns: "translation" }) : names.agent(each.actor_id)}
              {each.reason !== null && ` · ${each.reason}`}
            </span>
            <span className="ml-auto shrink-0 text-xs text-faint">
              <Ago at={each.at} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
