// How a launch goes or went, in a word, and why, in a few.
import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";

import type { Launch } from "@/api/model";
import { Badge, type Tone } from "@/ui";

const LIVE = new Set<Launch["state"]>(["ordered", "signed_in"]);
/** Ends that somebody ordered are no failures. */
const ORDERED = new Set(["stopped", "coordinator_stopped"]);

export const runs = (launch: Launch) => LIVE.has(launch.state);

/** `crashed: words of the program`: the class, and what it said. */
export function errorOf(launch: Launch): { name: string; words: string } | null {
  if (!launch.exit_error) return null;
  const [name = "", ...words] = launch.exit_error.split(":");
  return { name: name.trim(), words: words.join(":").trim() };
}

export function failed(launch: Launch): boolean {
  const error = errorOf(launch);
  return launch.state === "expired" || launch.state === "lost" || (error !== null && !ORDERED.has(error.name));
}

export function LaunchBadge({ launch }: { launch: Launch }) {
  const { t } = useTranslation("logs");
  const tone: Tone = failed(launch) ? "red" : runs(launch) ? "blue" : "plain";
  const error = errorOf(launch);
  const words = error !== null && failed(launch) ? t("status.failed") : t(`launchState.${launch.state}`);
  return (
    <Badge tone={tone}>
      {runs(launch) && <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-current" />}
      {words}
    </Badge>
  );
}

/** Everything that is known of the end, as one line; empty while it runs. */
export function endWords(launch: Launch, t: TFunction<"logs">): string {
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
