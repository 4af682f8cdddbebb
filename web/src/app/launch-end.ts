// How a launch went: what counts as a failure of it, and what was only ended by somebody.
import type { Launch } from "@/api/model";

/** `stopped`: a person, or what a person has changed, ended it. `restarted`: its Coordinator stopped. */
export type LaunchEnd = "running" | "stopped" | "restarted" | "failed" | "ended";

const LIVE = new Set<Launch["state"]>(["ordered", "signed_in"]);
const BY_PEOPLE = new Set(["ended_by_person", "dismissed"]);

export const runs = (launch: Launch) => LIVE.has(launch.state);

/** `crashed: words of the program`: the class, and what it said. */
export function errorOf(launch: Launch): { name: string; words: string } | null {
  if (!launch.exit_error) return null;
  const [name = "", ...words] = launch.exit_error.split(":");
  return { name: name.trim(), words: words.join(":").trim() };
}

/** The first that applies. What its program's end means says its Coordinator (`exit_error`), not the code. */
export function endOf(launch: Launch): LaunchEnd {
  const error = errorOf(launch)?.name ?? null;
  if (runs(launch) && launch.ended_at === null) return "running";
  if (BY_PEOPLE.has(launch.end_reason ?? "")) return "stopped";
  if (error === "coordinator_stopped") return "restarted";
  if (launch.state === "expired" || launch.state === "lost") return "failed";
  if (error === "stopped") return "stopped";
  return error === null ? "ended" : "failed";
}

/** Ends that somebody ordered are no failures. */
export const failed = (launch: Launch) => endOf(launch) === "failed";
