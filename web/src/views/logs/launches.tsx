// The launches of a project, the newest first: whose, for what, how it goes or went.
import { useState } from "react";

import type { Launch } from "@/api/model";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Checkbox, Elapsed, Empty, SelectField } from "@/ui";
import { failed } from "@/app/launch-end";
import { LaunchBadge } from "@/views/logs/ends";

interface LaunchListProps {
  all: readonly Launch[];
  projectId: string;
  chosen: string | undefined;
  agent: string;
  choose: (launch: string) => void;
  filter: (agent: string) => void;
}

export function LaunchList({ all, projectId, chosen, agent, choose, filter }: LaunchListProps) {
  const { t } = useTranslation("logs");
  const names = useNames(projectId);
  const [failures, setFailures] = useState(false);
  const whose = [...new Set(all.map((each) => each.agent_id))].map((id) => ({ value: id, label: names.agent(id) }));
  const shown = all.filter((each) => (agent === "" || each.agent_id === agent) && (!failures || failed(each)));
  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-3 py-2">
        <div className="min-w-0 flex-1">
          <SelectField
            bare
            label={t("agent")}
            value={agent}
            onChange={filter}
            choices={[{ value: "", label: t("anyAgent") }, ...whose]}
          />
        </div>
        <Checkbox label={t("failedOnly")} checked={failures} onChange={setFailures} />
      </div>
      <ul aria-label={t("launches")} className="min-h-0 flex-1 overflow-auto">
        {shown.length === 0 && <Empty title={t("noneFound")} />}
        {shown.map((each) => (
          <li key={each.launch_id}>
            <button
              type="button"
              aria-current={each.launch_id === chosen ? "true" : undefined}
              onClick={() => choose(each.launch_id)}
              className={`flex w-full items-start gap-2.5 border-b border-line px-3 py-2.5 text-left ${each.launch_id === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            >
              <Avatar id={each.agent_id} name={names.agent(each.agent_id)} size={26} />
              <span className="min-w-0 flex-1">
                <span className="flex items-center justify-between gap-2">
                  <span className="truncate font-medium">{names.agent(each.agent_id)}</span>
                  <LaunchBadge launch={each} />
                </span>
                <span className="block truncate text-[13px] text-soft">
                  {each.task_id === null ? t(`purpose.${each.purpose}`) : names.task(each.task_id)}
                </span>
                <span className="block text-xs text-faint">
                  <Ago at={each.ordered_at} /> · <Elapsed from={each.ordered_at} to={each.ended_at} />
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
