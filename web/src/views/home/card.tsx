// One agent of the team strip, with the evidence of its state; and where it does not run, the reason.

import type { Member } from "@/api/model";
import { DoingOf, useDoingOf } from "@/app/doing-of";
import { useOpenTask } from "@/app/going";
import { useTranslation } from "@/i18n/use-words";
import { AgentState, Ago, Avatar, Countdown, Elapsed, Told, compact, newest, timeOfDay } from "@/ui";

export const RUNNING: readonly Member["state"][] = ["working", "talking", "starting", "stopping"];

/** One agent in all its projects; never empty. */
export type Places = [Member, ...Member[]];

interface CardProps {
  places: Places;
  projects: Map<string, string> | null;
  onWhy: (member: Member) => void;
}

export function Card({ places, projects, onWhy }: CardProps) {
  const { t } = useTranslation("home");
  const [member] = places;
  const alone = places.length === 1;
  const project = alone && projects !== null ? (projects.get(member.project_id) ?? member.project_id) : null;
  return (
    <li className="-mr-px -mb-px space-y-1.5 border-r border-b border-line p-3.5">
      <div className="flex items-center gap-2.5">
        <Avatar id={member.agent_id} name={member.name} size={28} />
        <div className="min-w-0 flex-1">
          <p className="truncate leading-tight font-medium">{member.name}</p>
          <p className="truncate text-xs text-faint">
            {[project, t(`role.${member.role}`), member.model ?? member.provider].filter(Boolean).join(" · ")}
          </p>
        </div>
        {alone && <AgentState state={member.state} />}
      </div>
      {alone ? (
        <Doing member={member} onWhy={onWhy} />
      ) : (
        <ul className="space-y-2">
          {places.map((each) => (
            <li key={each.project_id} className="space-y-1 border-t border-line pt-2">
              <p className="flex items-center justify-between gap-2 text-[13px]">
                <span className="min-w-0 truncate text-soft">{projects?.get(each.project_id) ?? each.project_id}</span>
                <AgentState state={each.state} />
              </p>
              <Doing member={each} onWhy={onWhy} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** What it does in a project; or where it does nothing, why. */
function Doing({ member, onWhy }: { member: Member; onWhy: (member: Member) => void }) {
  const { t, i18n } = useTranslation("home");
  const openTask = useOpenTask();
  const { task_id } = member;
  const running = RUNNING.includes(member.state);
  const stopping = member.state === "stopping";
  return (
    <>
      {task_id !== null && (
        <button
          type="button"
          className="block max-w-full truncate text-left hover:underline"
          onClick={() => openTask(task_id)}
        >
          {member.task_title ?? t("chip.gone")}
        </button>
      )}
      {running && !stopping && member.step !== null && (
        <p className="line-clamp-2 text-[13px] text-soft">{member.step}</p>
      )}
      {stopping && (
        <p className="text-[13px] text-soft">
          <Told text={member.explanation ?? ""} />{" "}
          {member.until !== null && t("stoppedBy", { time: timeOfDay(member.until, i18n.language) })}
        </p>
      )}
      {!running && (
        <p className="text-[13px] text-soft">
          <span className="line-clamp-2">
            <Told text={member.explanation ?? ""} />
          </span>
          <button type="button" className="link" onClick={() => onWhy(member)}>
            {t("why")}
          </button>
        </p>
      )}
      {running && member.launch_id !== null && (
        <DoingOf launch={member.launch_id} first={member.doing} heard={member.last_call_at} />
      )}
      <Evidence member={member} running={running} />
    </>
  );
}

/** What the state rests on: the last call or output, whichever is newer, for how long, until when, with how many tokens. */
function Evidence({ member, running }: { member: Member; running: boolean }) {
  const { t, i18n } = useTranslation("home");
  const doing = useDoingOf({ launch: member.launch_id ?? "" }) ?? member.doing;
  const heard = newest(member.last_call_at, doing?.since ?? null);
  return (
    <p className="flex flex-wrap gap-x-3 text-xs text-faint">
      {running && member.started_at !== null && <Elapsed from={member.started_at} />}
      <span>
        {heard === null ? (
          running && t("neverCalled")
        ) : (
          <>
            {t(heard === member.last_call_at ? "lastCall" : "lastOutput")} <Ago at={heard} />
          </>
        )}
      </span>
      {running && member.lease_until !== null && (
        <span>
          {t("lease")} <Countdown until={member.lease_until} />
        </span>
      )}
      {member.tokens !== null && running && (
        <span>{t("tokens", { tokens: compact(member.tokens, i18n.language) })}</span>
      )}
      {!running && member.until !== null && <Countdown until={member.until} />}
    </p>
  );
}
