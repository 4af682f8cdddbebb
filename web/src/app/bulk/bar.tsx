// What can be done with the marked tasks at once, on every view that has marks. A refusal is told with its reason; the
// rest is done, and can be taken back.
import { ArrowRightLeft, Ban, Flag, UserRound, X } from "lucide-react";
import { useState } from "react";

import { WANTS_REASON } from "@/api/actions";
import { PRIORITIES } from "@/api/filter";
import { STATUSES, type Agent, type BoardTask, type TaskStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { AskWords, Avatar, Button, IconButton, Menu, MenuItem, PriorityIcon, StatusIcon } from "@/ui";

import { Refusals } from "./refusals";
import { useCarryOut } from "./use-carry-out";

export interface BulkProps {
  projectId: string;
  tasks: readonly BoardTask[];
  agents: readonly Agent[];
  onNone: () => void;
  onKeep: (ids: string[]) => void;
}

export function BulkBar({ projectId, tasks, agents, onNone, onKeep }: BulkProps) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState<TaskStatus | null>(null);
  const { progress, outcome, forget, move, assign, rank } = useCarryOut(projectId, tasks, onKeep);
  const choose = (status: TaskStatus) => (WANTS_REASON.includes(status) ? setAsking(status) : move(status));
  const busy = progress !== null;
  return (
    <>
      {(tasks.length > 0 || busy) && (
        <div
          role="toolbar"
          aria-label={t("bulk.selected", { count: tasks.length })}
          className="absolute inset-x-3 bottom-3 z-20 mx-auto flex max-w-fit flex-wrap items-center gap-1.5 rounded-xl border border-line-strong bg-panel p-1.5 pl-3 shadow-[var(--shadow)]"
        >
          <span className="mr-2 font-medium tabular-nums" aria-live="polite">
            {busy ? t("bulk.running", { ...progress }) : t("bulk.selected", { count: tasks.length })}
          </span>
          <Menu trigger={<BulkButton icon={<ArrowRightLeft size={14} />} words={t("bulk.move")} busy={busy} />}>
            {STATUSES.filter((each) => each !== "cancelled").map((each) => (
              <MenuItem key={each} onSelect={() => choose(each)}>
                <span aria-hidden>
                  <StatusIcon status={each} />
                </span>
                {t(`status.${each}`)}
              </MenuItem>
            ))}
          </Menu>
          <Menu trigger={<BulkButton icon={<UserRound size={14} />} words={t("bulk.assign")} busy={busy} />}>
            <div className="max-h-72 overflow-auto">
              {agents.map((each) => (
                <MenuItem key={each.agent_id} onSelect={() => assign(each.agent_id)}>
                  <Avatar id={each.agent_id} name={each.name} size={18} />
                  {each.name}
                </MenuItem>
              ))}
              <MenuItem onSelect={() => assign(null)}>{t("app.nobody")}</MenuItem>
            </div>
          </Menu>
          <Menu trigger={<BulkButton icon={<Flag size={14} />} words={t("bulk.priority")} busy={busy} />}>
            {PRIORITIES.map((each) => (
              <MenuItem key={each} onSelect={() => rank(each)}>
                <span aria-hidden>
                  <PriorityIcon priority={each} />
                </span>
                {t(`priority.${each}`)}
              </MenuItem>
            ))}
          </Menu>
          <Button small look="danger" disabled={busy} onClick={() => choose("cancelled")}>
            <Ban size={14} aria-hidden />
            {t("bulk.cancel")}
          </Button>
          <IconButton label={t("bulk.unselect")} small onClick={onNone}>
            <X size={15} />
          </IconButton>
        </div>
      )}
      {asking !== null && (
        <AskWords
          required
          title={t("bulk.reasonTitle", { status: t(`status.${asking}`) })}
          label={t("bulk.reasonText", { count: tasks.length })}
          action={t("bulk.go")}
          danger={asking === "cancelled"}
          onSaid={(reason) => move(asking, reason)}
          onClose={() => setAsking(null)}
        />
      )}
      <Refusals outcome={outcome} onClose={forget} />
    </>
  );
}

function BulkButton({ icon, words, busy, ...rest }: { icon: React.ReactNode; words: string; busy: boolean }) {
  return (
    <Button small look="quiet" disabled={busy} {...rest}>
      <span aria-hidden>{icon}</span>
      {words}
    </Button>
  );
}
