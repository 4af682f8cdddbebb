// What a bar says under the pointer: the task and its result, when and for how long, with what, and the last sign of it.

import { DoingOf } from "@/app/doing-of";
import { programOf } from "@/app/program-of";
import { useTranslation } from "@/i18n/use-words";
import { Badge, StatusBadge, duration } from "@/ui";

import { TONES } from "./details";
import type { Bar, LaunchBar } from "./lanes";

export function BarCard({ bar, now }: { bar: Bar; now: number }) {
  const { t, i18n } = useTranslation("timeline");
  const time = (at: number) => new Date(at).toLocaleTimeString(i18n.language, { hourCycle: "h23" });
  const lasted = duration((bar.to ?? now) - bar.from, i18n.language);
  return (
    <div className="space-y-1.5">
      <p className="font-medium break-words">{bar.task?.title ?? t(`purpose.${(bar as LaunchBar).launch.purpose}`)}</p>
      {bar.kind === "task" ? (
        <StatusBadge status={bar.task.status} />
      ) : (
        <Badge tone={TONES[bar.result]}>{t(`result.${bar.result}`)}</Badge>
      )}
      <p className="text-soft tabular-nums">
        {time(bar.from)} – {bar.to === null ? t("now") : time(bar.to)} · {lasted}
      </p>
      {bar.kind === "launch" && <Ran bar={bar} />}
    </div>
  );
}

function Ran({ bar: { launch, tokens, to } }: { bar: LaunchBar }) {
  const { t } = useTranslation("timeline");
  const program = programOf(launch);
  const facts = [program, ...(tokens === null ? [] : [t("tokens", { count: tokens })])].filter(Boolean).join(" · ");
  const sign = [launch.doing?.tool, launch.doing?.text].filter(Boolean).join(" ");
  return (
    <>
      {facts !== "" && <p className="text-faint tabular-nums">{facts}</p>}
      {to === null && <DoingOf launch={launch.launch_id} />}
      {to !== null && sign !== "" && (
        <p className="truncate font-mono text-xs text-soft">{t("lastSign", { words: sign })}</p>
      )}
      {launch.exit_error !== null && <p className="line-clamp-3 break-words text-red">{launch.exit_error}</p>}
    </>
  );
}
