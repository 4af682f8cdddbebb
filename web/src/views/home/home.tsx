// The first glance, in the order in which a person decides: everything, or one project.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { agents, board, overview, projects } from "@/api/queries";
import { useWrites } from "@/app/may";
import { Bar, Failed, Loading } from "@/ui";
import { DemoPanel } from "@/views/home/demo";
import { FuelPanel } from "@/views/home/fuel";
import { NeedsPanel } from "@/views/home/needs";
import { PlantPanel } from "@/views/home/plant";
import { QueuePanel } from "@/views/home/queue";
import { SincePanel } from "@/views/home/since";
import { TeamStrip } from "@/views/home/team";
import { FirstTask, Welcome } from "@/views/home/welcome";

export function Home() {
  const { t } = useTranslation("home");
  const { projectId } = useParams({ strict: false });
  const all = useQuery(projects);
  const seen = useQuery(overview(projectId ?? null));
  const tasks = useQuery({ ...board(projectId ?? ""), enabled: projectId !== undefined }).data?.tasks;
  const writes = useWrites();
  useQuery(agents); // names, for every panel
  const project = all.data?.find((each) => each.project_id === projectId);
  const bar = <Bar title={project?.name ?? t("nav.home")} />;
  if (all.data?.every((each) => each.status === "archived") && project === undefined)
    return (
      <>
        {bar}
        <Welcome />
      </>
    );
  if (seen.isPending) return <Loading rows={6} />;
  if (seen.data === undefined) return <Failed error={seen.error} retry={() => void seen.refetch()} />;
  const names = new Map(all.data?.map((each) => [each.project_id, each.name]));
  const { needs, since, team, queue, fuel, plant } = seen.data;
  return (
    <div className="mx-auto max-w-6xl space-y-4 p-3 sm:p-5">
      {bar}
      <DemoPanel projectId={projectId ?? null} />
      <NeedsPanel needs={needs} />
      <SincePanel since={since} />
      {writes && project !== undefined && tasks?.length === 0 && <FirstTask project={project} />}
      <TeamStrip team={team} projects={project === undefined ? names : null} />
      <div className="grid items-start gap-4 lg:grid-cols-3">
        <div className="lg:col-span-2">
          <QueuePanel queue={queue} projectId={projectId ?? null} />
        </div>
        <div className="space-y-4">
          <FuelPanel fuel={fuel} names={names} />
          <PlantPanel plant={plant} />
        </div>
      </div>
    </div>
  );
}
