// What the agent of a task, a launch or a chat does now, read once for the page and kept fresh by the stream of events.
import { useQuery } from "@tanstack/react-query";

import type { Launch } from "@/api/model";
import { liveLaunches } from "@/api/queries";
import { DoingNow } from "@/ui";

type Which = { task: string } | { launch: string } | { agent: string; project: string; purpose: Launch["purpose"] };

interface Given {
  className?: string;
  first?: Launch["doing"];
  heard?: string | null;
  mayWait?: boolean;
}

const isIt = (which: Which) => (launch: Launch) =>
  "task" in which
    ? launch.task_id === which.task && launch.purpose === "task"
    : "launch" in which
      ? launch.launch_id === which.launch
      : launch.agent_id === which.agent && launch.project_id === which.project && launch.purpose === which.purpose;

export function useDoingOf(which: Which): Launch["doing"] {
  return useQuery({ ...liveLaunches, select: (all) => all.find(isIt(which))?.doing ?? null }).data ?? null;
}

/** `first`: what is known until that is read. `heard`: another sign of life. */
export function DoingOf({ className, first, heard, mayWait, ...which }: Which & Given) {
  const doing = useDoingOf(which) ?? first;
  const talks = "purpose" in which && which.purpose === "chat";
  return <DoingNow {...{ doing, heard }} mayWait={mayWait ?? talks} {...(className ? { className } : {})} />;
}
