// What the agent's process prints, while it prints it. Who scrolls up keeps their place; at the end one follows.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Launch, Task } from "@/api/model";
import { agents, launches } from "@/api/queries";
import { useItems, useOutput } from "@/app/output";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Elapsed, Empty, Failed, Loading } from "@/ui";
import { Transcript } from "@/ui/transcript";

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
          className="text-[13px] link"
        >
          {t("log.all")}
        </Link>
      </div>
      <Network launch={launch} />
      <Output key={launch.launch_id} launchId={launch.launch_id} />
    </div>
  );
}

/** Where the ports of its program are, and which hosts its sandbox has refused: these are whatever it has asked for. */
function Network({ launch }: { launch: Launch }) {
  const { t } = useTranslation("task");
  const refused = launch.refused_hosts;
  return (
    <>
      {launch.ports.map((each) => (
        <p key={each.port} className="text-[13px]">
          {t("log.port", { port: each.port })}{" "}
          <a href={each.address} target="_blank" rel="noreferrer" className="link">
            {each.address}
          </a>
        </p>
      ))}
      {refused !== null && (
        <div className="space-y-1 rounded-md bg-amber-soft px-3 py-2 text-[13px] text-amber">
          <p>{t("log.refused")}</p>
          <ul className="list-inside list-disc font-mono">
            {refused.hosts.map((each) => (
              <li key={each} className="break-all">
                {each}
              </li>
            ))}
            {refused.more > 0 && <li>{t("log.moreRefused", { count: refused.more })}</li>}
          </ul>
          {refused.words !== "" && <p className="break-words">{refused.words}</p>}
        </div>
      )}
    </>
  );
}

function Output({ launchId }: { launchId: string }) {
  const { t } = useTranslation("task");
  const output = useOutput(launchId);
  const items = useItems(output);
  const { text, page, error } = output;
  const [following, setFollowing] = useState(true);
  if (page === null) return error === null ? <Loading /> : <Failed error={error} />;
  if (page.removed !== undefined) return <p className="text-soft">{page.removed}</p>;
  if (text === "") return <p className="py-6 text-center text-soft">{t(page.ended ? "log.empty" : "log.waiting")}</p>;
  return (
    <Transcript
      {...{ items, following }}
      lives={!page.ended}
      onFollow={setFollowing}
      className="h-[62vh] min-h-40 rounded-lg border border-line"
    />
  );
}
