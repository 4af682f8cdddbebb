// What the agent's process prints, while it prints it. Who scrolls up keeps their place; at the end one follows.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowDown } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Launch, Task } from "@/api/model";
import { agents, launches } from "@/api/queries";
import { readable, useOutput } from "@/app/output";
import { Badge, Button, Elapsed, Empty, Failed, Loading } from "@/ui";

const MOST_LINES = 2000;
const NEAR_PX = 32;

export function LiveLog({ task }: { task: Task }) {
  const { t, i18n } = useTranslation("task");
  const found = useQuery(launches({ task_id: task.task_id }));
  const names = new Map(useQuery(agents).data?.map((each) => [each.agent_id, each.name]));
  const [chosen, setChosen] = useState<string | null>(null);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const launch = found.data.find((each) => each.launch_id === chosen) ?? found.data[0];
  if (launch === undefined) return <Empty title={t("log.none")} />;
  const named = (each: Launch) =>
    `${names.get(each.agent_id) ?? each.agent_id} · ${new Date(each.ordered_at).toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "medium" })}`;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label={t("log.launch")}
          value={launch.launch_id}
          onChange={(event) => setChosen(event.target.value)}
          className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2"
        >
          {found.data.map((each) => (
            <option key={each.launch_id} value={each.launch_id}>
              {named(each)}
            </option>
          ))}
        </select>
        <Badge tone={launch.ended_at === null ? "blue" : "plain"}>
          {t(launch.ended_at === null ? "log.running" : "log.ended")}{" "}
          <Elapsed from={launch.ordered_at} to={launch.ended_at} />
        </Badge>
        <Link
          to="/p/$projectId/logs"
          params={{ projectId: task.project_id }}
          search={{ launch: launch.launch_id }}
          className="text-[13px] text-accent hover:underline"
        >
          {t("log.all")}
        </Link>
      </div>
      <Output key={launch.launch_id} launchId={launch.launch_id} />
    </div>
  );
}

function Output({ launchId }: { launchId: string }) {
  const { t } = useTranslation("task");
  const { text, page, error } = useOutput(launchId);
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  useEffect(() => {
    if (following && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [following, text]);
  if (page === null) return error === null ? <Loading /> : <Failed error={error} />;
  if (page.removed !== undefined) return <p className="text-soft">{page.removed}</p>;
  if (text === "") return <p className="py-6 text-center text-soft">{t(page.ended ? "log.empty" : "log.waiting")}</p>;
  const lines = readable(text).split("\n");
  return (
    <div className="relative">
      <div
        ref={box}
        role="log"
        aria-live="off"
        data-following={following}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_PX)
        }
        className="max-h-[62vh] min-h-40 overflow-auto rounded-lg border border-line bg-sunken p-3"
      >
        {lines.length > MOST_LINES && <p className="pb-2 text-xs text-faint">{t("log.earlier")}</p>}
        <pre className="font-mono text-[12.5px] leading-relaxed break-words whitespace-pre-wrap">
          {lines.slice(-MOST_LINES).join("\n")}
        </pre>
      </div>
      {!following && (
        <Button small className="absolute right-4 bottom-4 shadow-[var(--shadow)]" onClick={() => setFollowing(true)}>
          <ArrowDown size={14} aria-hidden />
          {t("log.toEnd")}
        </Button>
      )}
    </div>
  );
}
