// What is said where nothing needs the person who looks: that all goes on by itself, or why it does not. The server says
// which of these is true.
import {
  Archive,
  CircleCheckBig,
  CircleDashed,
  CirclePause,
  Clock,
  Hourglass,
  ListTodo,
  UserPlus,
  type LucideIcon,
} from "lucide-react";

import type { Overview } from "@/api/model";
import { useOwns, useWrites } from "@/app/may";
import { newAgent, newTask } from "@/app/overlays";
import { navigate } from "@/app/routing";
import { addressOf } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { Button, timeOfDay } from "@/ui";

type Calm = Overview["calm"];

const ICONS: Record<Calm["state"], LucideIcon> = {
  runs: CircleCheckBig,
  not_started: ListTodo,
  waits: Clock,
  runs_in_part: Clock,
  held: Hourglass,
  nothing_open: CircleDashed,
  no_team: UserPlus,
  paused: CirclePause,
  archived: Archive,
  no_project: CircleDashed,
};

export function CalmLine({ calm, projectId }: { calm: Calm; projectId: string | null }) {
  const { t, i18n } = useTranslation("home");
  const Icon = ICONS[calm.state];
  const all = calm.state === "runs" && calm.tasks === 0;
  const more = calm.state === "runs" && calm.tasks > 0 ? "runsBeside" : calm.state;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
      <Icon size={18} aria-hidden className={`shrink-0 ${all ? "text-green" : "text-amber"}`} />
      <p className="min-w-48 flex-1">
        <span className="font-medium">{t(`needsNothing.${calm.state}`)}</span>{" "}
        <span className="text-soft">
          {t(`needsNothingMore.${more}`, {
            count: calm.tasks,
            time: calm.until === null ? "" : timeOfDay(calm.until, i18n.language),
          })}
        </span>
      </p>
      <Helps state={calm.state} projectId={projectId} />
    </div>
  );
}

function Helps({ state, projectId }: { state: Calm["state"]; projectId: string | null }) {
  const { t } = useTranslation("home");
  const owns = useOwns();
  const writes = useWrites();
  if (state === "no_team" && owns)
    return (
      <Button small onClick={() => newAgent(projectId ?? undefined)}>
        {t("addAgent")}
      </Button>
    );
  if (projectId === null) return null;
  if (state === "nothing_open" && writes)
    return (
      <Button small onClick={() => newTask({ projectId })}>
        {t("firstTask")}
      </Button>
    );
  if (state === "not_started")
    return (
      <Button small onClick={() => void navigate({ to: addressOf(projectId, "list") })}>
        {t("toTheList")}
      </Button>
    );
  return null;
}
