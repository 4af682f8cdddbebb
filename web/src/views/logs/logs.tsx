// What agents' processes printed: the launches on the left, the newest first; the output of one on the right.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { useTranslation } from "react-i18next";

import { launches } from "@/api/queries";
import { Bar, Empty, Failed, Loading } from "@/ui";
import { LaunchList } from "@/views/logs/launches";
import { LogPane } from "@/views/logs/pane";

export function Logs() {
  const { t } = useTranslation("logs");
  const { projectId = "" } = useParams({ strict: false });
  const { launch, agent, task } = useSearch({ strict: false });
  const navigate = useNavigate();
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
  if (found.isPending) return <Loading rows={8} />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data.length === 0 && launch === undefined)
    return (
      <>
        <Bar title={t("title")} />
        <Empty icon={<ScrollText size={26} aria-hidden />} title={t("none")}>
          {t("noneHelp")}
        </Empty>
      </>
    );
  return (
    <div className="flex h-full min-h-0">
      <Bar title={t("title")} />
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
