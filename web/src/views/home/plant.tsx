// The server, and the Coordinators with their last heartbeat and disk usage.
import { CircleAlert, CircleCheck } from "lucide-react";

import type { Plant } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Copyable, Panel, bytes } from "@/ui";

export function PlantPanel({ plant }: { plant: Plant }) {
  const { t, i18n } = useTranslation("home");
  const size = (count: number | undefined) => (count === undefined ? "" : bytes(count, i18n.language)); // an older server's
  return (
    <Panel title={t("plant")}>
      <dl className="space-y-1 border-b border-line px-4 py-3">
        <div className="flex justify-between gap-3">
          <dt className="text-soft">{t("server")}</dt>
          <dd className="tabular-nums">{plant.version}</dd>
        </div>
        <div className="flex justify-between gap-3">
          <dt className="text-soft">{t("database")}</dt>
          <dd className="tabular-nums">{[plant.database, size(plant.database_bytes)].filter(Boolean).join(" · ")}</dd>
        </div>
      </dl>
      {plant.coordinators.length === 0 && (
        <div className="space-y-2 p-4">
          <p className="text-soft">{t("coordinatorNone")}</p>
          <Copyable text="toryo coordinator" />
        </div>
      )}
      <ul className="divide-y divide-line">
        {plant.coordinators.map((each) => (
          <li key={each.coordinator_id} className="space-y-1 px-4 py-3">
            <div className="flex items-center justify-between gap-2">
              <span className="min-w-0 truncate font-medium" title={each.coordinator_id}>
                {each.coordinator_id}
              </span>
              <Badge tone={each.away ? "red" : "green"}>
                {each.away ? <CircleAlert size={13} aria-hidden /> : <CircleCheck size={13} aria-hidden />}
                {t(each.away ? "away" : "here")}
              </Badge>
            </div>
            <p className="text-xs text-faint">
              {t("heartbeat")} <Ago at={each.seen_at} /> · {t("runs", { count: each.running })}
            </p>
            {each.disk && (
              <p className="text-xs text-faint tabular-nums">
                {t(each.disk.complete ? "disk" : "diskAtLeast", {
                  logs: size(each.disk.logs_bytes),
                  worktrees: size(each.disk.worktrees_bytes),
                })}
              </p>
            )}
            <p className="truncate text-xs text-faint">{each.providers.join(", ")}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
