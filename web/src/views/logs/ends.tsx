// How a launch goes or went, in a word, and why, in a few.

import type { Launch } from "@/api/model";
import { endOf, errorOf, failed, runs } from "@/app/launch-end";
import { useTranslation } from "@/i18n/use-words";
import type { TFunction } from "@/i18n/words";
import { Badge, type Tone } from "@/ui";

/** Ends of sessions that neither the agent nor its work brought about. */
const BY_OTHERS = new Set(["superseded", "project_paused", "task_withdrawn"]);

/** What became of a process that is over: none of these says how its task went on. */
export function becameOf(launch: Launch): "failed" | "stopped" | "reported" | "waits" | "other" {
  const end = endOf(launch);
  if (end === "failed") return "failed";
  if (end !== "ended" || BY_OTHERS.has(launch.end_reason ?? "")) return "stopped"; // what was ordered is no failure
  if (launch.end_reason === "reported") return "reported";
  return launch.end_reason === "left_to_wait" ? "waits" : "other";
}

export function LaunchBadge({ launch }: { launch: Launch }) {
  const { t } = useTranslation("logs");
  const tone: Tone = failed(launch) ? "red" : runs(launch) ? "blue" : "plain";
  const words = launch.state === "exited" ? t(`launchEnd.${becameOf(launch)}`) : t(`launchState.${launch.state}`);
  return (
    <Badge tone={tone}>
      {runs(launch) && <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-current" />}
      {words}
    </Badge>
  );
}

/** Everything that is known of the end, as one line; empty while it runs. */
export function endWords(launch: Launch, t: TFunction): string {
  if (runs(launch)) return "";
  const error = errorOf(launch);
  const reason = launch.end_reason ?? "";
  return [
    error === null ? null : t(`failure.${error.name}` as "failure.crashed", { defaultValue: error.name }),
    reason && t(`end.${reason}` as "end.reported", { defaultValue: reason.replaceAll("_", " ") }),
    launch.exit_signal === null
      ? launch.exit_code === null
        ? null
        : t("code", { code: launch.exit_code })
      : t("signal", { signal: launch.exit_signal }),
  ]
    .filter(Boolean)
    .join(" · ");
}
