// One member of the team: who it is, what it does now and by what evidence, and what can be done about it.
import { useQuery } from "@tanstack/react-query";
import { Bot, Cpu, UserRound } from "lucide-react";
import { Fragment } from "react";

import type { Member } from "@/api/model";
import { sessions } from "@/api/queries";
import { useMay } from "@/app/may";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { AgentState, Ago, Avatar, Badge, Countdown, Elapsed } from "@/ui";

import { AgentMenu, type Acts } from "./menu";
import type { Branch } from "./tree";
import { Why } from "./why";

interface PersonProps {
  branch: Branch;
  member: Member | undefined;
  projectId: string;
  acts: Acts;
}

export function Person({ branch, member, projectId, acts }: PersonProps) {
  const { t } = useTranslation("team");
  const { agent, outside } = branch;
  const off = agent.status === "inactive";
  const may = useMay();
  return (
    <article
      aria-label={agent.name}
      className={`grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1.5 rounded-lg border border-line bg-panel px-3 py-2.5 lg:grid-cols-[auto_minmax(0,15rem)_minmax(0,1fr)_auto] ${off || outside ? "border-dashed bg-transparent" : ""}`}
    >
      <span className="relative">
        <Avatar id={agent.agent_id} name={agent.name} size={34} />
        <Kind person={agent.kind === "human"} />
      </span>
      <div className="min-w-0">
        <p className="flex items-center gap-2">
          <span className={`truncate font-semibold ${off ? "text-faint" : ""}`}>{agent.name}</span>
          {outside && <Badge>{t("outside")}</Badge>}
        </p>
        <p className="truncate text-xs text-faint">
          {t(`role.${agent.role}`, { ns: "translation" })}
          {agent.provider !== null && (
            <>
              {" · "}
              <Cpu size={12} className="mb-0.5 inline" aria-hidden /> {agent.provider}
              {agent.model !== null && ` / ${agent.model}`}
              {typeof agent.effective_options["permissions"] === "string" &&
                ` · ${agent.effective_options["permissions"]}`}
            </>
          )}
          {agent.provider === null && agent.kind === "ai" && ` · ${t("noProvider")}`}
        </p>
      </div>
      <div className="order-last col-span-3 min-w-0 lg:order-none lg:col-span-1">
        {agent.kind === "human" ? (
          <p className="text-xs text-faint">{t("person")}</p>
        ) : (
          <Now member={member} off={off} projectId={projectId} />
        )}
      </div>
      <div className="flex items-center gap-0.5">
        {agent.kind === "ai" && !outside && <Why agentId={agent.agent_id} name={agent.name} projectId={projectId} />}
        {may("write") && <AgentMenu branch={branch} member={member} acts={acts} owns={may("own")} />}
      </div>
    </article>
  );
}

function Kind({ person }: { person: boolean }) {
  const { t } = useTranslation("team");
  const Icon = person ? UserRound : Bot;
  return (
    <span
      role="img"
      aria-label={person ? t("kind.human") : t("kind.ai")}
      className="absolute -right-1 -bottom-1 flex size-4.5 items-center justify-center rounded-full border border-line bg-panel text-soft"
    >
      <Icon size={11} aria-hidden />
    </span>
  );
}

function Now({ member, off, projectId }: { member: Member | undefined; off: boolean; projectId: string }) {
  const { t } = useTranslation("team");
  if (off) return <Badge>{t("inactive")}</Badge>;
  if (member === undefined) return null;
  const evidence = member.last_call_at !== null && ["working", "talking", "stopping"].includes(member.state);
  const said = [
    member.step ?? member.explanation,
    evidence && (
      <>
        {t("lastCall")} <Ago at={member.last_call_at} />
      </>
    ),
    member.tokens !== null && member.tokens > 0 && t("tokens", { count: member.tokens }),
  ].filter(Boolean);
  return (
    <div className="min-w-0 space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <AgentState state={member.state} />
        {member.task_id !== null && (
          <Link
            to="/p/$projectId/team"
            params={{ projectId }}
            search={{ task: member.task_id }}
            className="min-w-0 truncate font-medium hover:underline"
          >
            {member.task_title ?? member.task_id}
          </Link>
        )}
        <NotConfirmed agentId={member.agent_id} projectId={projectId} />
        {member.started_at !== null && (
          <span className="text-xs text-faint">
            <Elapsed from={member.started_at} />
          </span>
        )}
        {member.until !== null && (
          <span className="text-xs text-amber">
            <Countdown until={member.until} />
          </span>
        )}
      </p>
      <p className="line-clamp-2 text-xs text-faint lg:truncate">
        {said.map((each, place) => (
          <Fragment key={place}>
            {place > 0 && " · "}
            {each}
          </Fragment>
        ))}
      </p>
    </div>
  );
}

// Signed in, but neither it nor its Coordinator has reported since the server started: it may have crashed.
function NotConfirmed({ agentId, projectId }: { agentId: string; projectId: string }) {
  const { t } = useTranslation("team");
  const found = useQuery(sessions(projectId));
  const silent = found.data?.find((each) => each.agent_id === agentId && !each.confirmed);
  if (silent === undefined) return null;
  return (
    <Badge tone="amber">
      {t("unconfirmed")} <Ago at={silent.last_seen_at} />
    </Badge>
  );
}
