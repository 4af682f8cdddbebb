// The first glance, in the order in which a person decides: everything, or one project.
import { useQuery } from "@tanstack/react-query";

import { agents, board, overview, projects } from "@/api/queries";
import { useWrites } from "@/app/may";
import { useParams } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Failed, Loading, lateComponent } from "@/ui";
import { NeedsPanel } from "@/views/home/needs";
import { SincePanel } from "@/views/home/since";
import { TeamStrip } from "@/views/home/team";

const DemoPanel = lateComponent(() => import("@/views/home/demo").then((part) => part.DemoPanel), { beside: true });
// Where there is nothing yet.
const Welcome = lateComponent(() => import("@/views/home/welcome").then((part) => part.Welcome), { beside: true });
const QueuePanel = lateComponent(() => import("@/views/home/queue").then((part) => part.QueuePanel), { beside: true });
const FuelPanel = lateComponent(() => import("@/views/home/fuel").then((part) => part.FuelPanel), { beside: true });
const PlantPanel = lateComponent(() => import("@/views/home/plant").then((part) => part.PlantPanel), { beside: true });
const FirstTask = lateComponent(() => import("@/views/home/welcome").then((part) => part.FirstTask), { beside: true });

export function Home() {
  const { t } = useTranslation("home");
  const { projectId } = useParams();
  const all = useQuery(projects);
  const seen = useQuery(overview(projectId ?? null));
  const tasks = useQuery({ ...board(projectId ?? ""), enabled: projectId !== undefined }).data?.tasks;
  const writes = useWrites();
  useQuery(agents); // names, for every panel
  const project = all.data?.find((each) => each.project_id === projectId);
  const bar = <Bar title={t("nav.home")} />;
  if (all.data?.every((each) => each.status === "archived") && project === undefined)
    return (
      <>
        {bar}
        <Welcome />
      </>
    );
  if (seen.data === undefined)
    return (
      <>
        {bar}
        {seen.isPending ? <Loading rows={6} /> : <Failed error={seen.error} retry={() => void seen.refetch()} />}
      </>
    );
  const names = new Map(all.data?.map((each) => [each.project_id, each.name]));
  const { needs, calm, since, team, queue, fuel, plant } = seen.data;
  return (
    <div className="mx-auto max-w-7xl p-3 sm:p-5">
      {bar}
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0 space-y-4">
          <DemoPanel projectId={projectId ?? null} needs={needs} />
          <NeedsPanel needs={needs} calm={calm} projectId={projectId ?? null} />
          <SincePanel since={since} projectId={projectId ?? null} />
          {writes && project !== undefined && tasks?.length === 0 && <FirstTask project={project} />}
          <TeamStrip team={team} projects={project === undefined ? names : null} />
          <QueuePanel queue={queue} projectId={projectId ?? null} />
        </div>
        <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-1">
          <FuelPanel fuel={fuel} names={names} />
          <PlantPanel plant={plant} />
        </div>
      </div>
    </div>
  );
}
