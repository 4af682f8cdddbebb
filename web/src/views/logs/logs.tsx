// What agents' processes printed: the launches on the left, the newest first; the output of one on the right.
import { useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";

import { launches } from "@/api/queries";
import { navigate, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Empty, Failed, Loading } from "@/ui";
import { LaunchList } from "@/views/logs/launches";
import { LogPane } from "@/views/logs/pane";

export function Logs() {
  const { t } = useTranslation("logs");
  const { projectId = "" } = useParams();
  const { launch, agent, task } = useSearch();
  const found = useQuery(launches({ project_id: projectId, ...(task === undefined ? {} : { task_id: task }) }));
  const choose = (chosen: string | undefined, of = agent) =>
    void navigate({
      to: "/p/$projectId/logs",
      params: { projectId },
      search: {
        ...(chosen === undefined ? {} : { launch: chosen }),
        ...(of ? { agent: of } : {}),
        ...(task === undefined ? {} : { task }),
      },
    });
  const bar = <Bar title={t("title")} />;
  if (found.data === undefined || (found.data.length === 0 && launch === undefined))
    return (
      <>
        {bar}
        {found.isPending && <Loading rows={8} />}
        {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
        {found.isSuccess && (
          <Empty icon={<ScrollText size={26} aria-hidden />} title={t("none")}>
            {t("noneHelp")}
          </Empty>
        )}
      </>
    );
  return (
    <div className="flex h-full min-h-0">
      {bar}
      <div
        className={`${launch === undefined ? "flex" : "hidden md:flex"} w-full shrink-0 flex-col border-r border-line md:w-80`}
      >
        <LaunchList
          all={found.data}
          projectId={projectId}
          chosen={launch}
          agent={agent ?? ""}
          choose={choose}
          filter={(of) => choose(launch, of)}
        />
      </div>
      <div className={`${launch === undefined ? "hidden md:flex" : "flex"} min-w-0 flex-1 flex-col`}>
        {launch === undefined ? (
          <div className="m-auto">
            <Empty icon={<ScrollText size={26} aria-hidden />} title={t("choose")} />
          </div>
        ) : (
          <LogPane key={launch} launchId={launch} projectId={projectId} back={() => choose(undefined)} />
        )}
      </div>
    </div>
  );
}
