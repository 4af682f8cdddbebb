// The team strip: each agent's state with its evidence; and where it does not run, the reason.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Member } from "@/api/model";
import { useOpenTask } from "@/app/going";
import { AgentState, Ago, Avatar, Countdown, Elapsed, Empty, Panel, compact } from "@/ui";
import { WhyDialog } from "@/views/home/why";

const RUNNING: readonly Member["state"][] = ["working", "talking", "starting", "stopping"];

/** `projects`: their names, where more than one is shown. Who works in several is one card with each of them inside. */
export function TeamStrip({ team, projects }: { team: Member[]; projects: Map<string, string> | null }) {
  const { t } = useTranslation("home");
  const [asked, setAsked] = useState<Member | null>(null);
  const programs = byAgent(team.filter((each) => each.kind === "ai"));
  return (
    <Panel title={t("team")}>
      {programs.length === 0 && <Empty title={t("teamNone")} />}
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,17.5rem),1fr))] overflow-hidden rounded-b-lg">
        {programs.map((places) => (
          <Card key={places[0].agent_id} places={places} projects={projects} onWhy={setAsked} />
        ))}
      </ul>
      {asked !== null && <WhyDialog agentId={asked.agent_id} name={asked.name} onClose={() => setAsked(null)} />}
    </Panel>
  );
}

/** One agent in all its projects; never empty. */
type Places = [Member, ...Member[]];

/** In the order in which the server tells them: who does something first. */
function byAgent(team: readonly Member[]): Places[] {
  const found = new Map<string, Places>();
  for (const each of team) {
    const known = found.get(each.agent_id);
    if (known === undefined) found.set(each.agent_id, [each]);
    else known.push(each);
  }
  return [...found.values()];
}

interface CardProps {
  places: Places;
  projects: Map<string, string> | null;
  onWhy: (member: Member) => void;
}

function Card({ places, projects, onWhy }: CardProps) {
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
  const { t } = useTranslation("home");
  const openTask = useOpenTask();
  const { task_id } = member;
  const running = RUNNING.includes(member.state);
  return (
    <>
      {task_id !== null && (
        <button
          type="button"
          className="block max-w-full truncate text-left hover:underline"
          onClick={() => openTask(task_id)}
        >
          {member.task_title ?? task_id}
        </button>
      )}
      {running && member.step !== null && <p className="line-clamp-2 text-[13px] text-soft">{member.step}</p>}
      {!running && (
        <p className="text-[13px] text-soft">
          <span className="line-clamp-2">{member.explanation ?? member.reason}</span>
          <button type="button" className="text-accent hover:underline" onClick={() => onWhy(member)}>
            {t("why")}
          </button>
        </p>
      )}
      <Evidence member={member} running={running} />
    </>
  );
}

/** What the state rests on: the last call, for how long, until when, with how many tokens. */
function Evidence({ member, running }: { member: Member; running: boolean }) {
  const { t, i18n } = useTranslation("home");
  return (
    <p className="flex flex-wrap gap-x-3 text-xs text-faint">
      {running && member.started_at !== null && <Elapsed from={member.started_at} />}
      <span>
        {member.last_call_at === null ? (
          running && t("neverCalled")
        ) : (
          <>
            {t("lastCall")} <Ago at={member.last_call_at} />
          </>
        )}
      </span>
      {running && member.lease_until !== null && (
        <span>
          {t("lease")} <Countdown until={member.lease_until} />
        </span>
      )}
      {member.tokens !== null && running && (
        <span>
          {compact(member.tokens, i18n.language)} {t("tokens")}
        </span>
      )}
      {!running && member.until !== null && <Countdown until={member.until} />}
    </p>
  );
}
