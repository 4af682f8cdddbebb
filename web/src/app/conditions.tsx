// What is off in the project that one looks at, in one line each under the header (condition-lines.tsx). The server decides
// what is said and who may do what; it is asked again when it says so, for Coordinators come and go without an event.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Condition, Project } from "@/api/model";
import { conditions } from "@/api/queries";
import { usePath } from "@/app/routing";
import { viewAt } from "@/app/views";
import { lateComponent } from "@/ui";

const Lines = lateComponent(() => import("@/app/condition-lines").then((part) => part.Lines), { beside: true });

export function Conditions({ project }: { project: Project | undefined }) {
  const path = usePath();
  const here = viewAt(path) !== undefined || path === "/" || path.startsWith("/t/");
  const id = project?.project_id ?? "";
  const found = useQuery({ ...conditions(id), enabled: here && id !== "" }).data?.conditions;
  useOverviewWith(id, found);
  if (!here || found === undefined || found.length === 0) return null;
  return <Lines found={found} />;
}

/** What the overview says changes together with this. */
function useOverviewWith(projectId: string, found: Condition[] | undefined) {
  const client = useQueryClient();
  const said = found?.map((each) => `${each.kind} ${each.since ?? ""}`).join();
  const before = useRef({ projectId, said });
  useEffect(() => {
    const { current: seen } = before;
    before.current = { projectId, said };
    if (seen.projectId === projectId && seen.said !== undefined && said !== undefined && seen.said !== said)
      void client.invalidateQueries({ queryKey: ["overview"] });
  }, [client, projectId, said]);
}
