// The team as a tree: each agent with its current work, or why it does nothing. Live.
import { useQuery } from "@tanstack/react-query";
import { Plus, Users } from "lucide-react";

import type { Agent, Member } from "@/api/model";
import { agents, members, overview } from "@/api/queries";
import { useOwns } from "@/app/may";
import { newAgent } from "@/app/overlays";
import { useParams } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Button, Empty, Failed, Loading } from "@/ui";

import { useActs } from "./acts";
import type { Acts } from "./menu";
import { Person } from "./person";
import { forest, type Branch } from "./tree";

export function Team() {
  const { t } = useTranslation("team");
  const { projectId = "" } = useParams();
  const everybody = useQuery(agents);
  const inside = useQuery(members(projectId));
  const { acts, dialogs } = useActs(projectId);
  const owns = useOwns();
  const failed = everybody.error ?? inside.error;
  return (
    <div className="mx-auto max-w-6xl p-4">
      <Bar title={t("nav.team", { ns: "translation" })} />
      <header className="mb-4 flex items-center gap-3">
        {everybody.data && inside.data && <Counts agents={inside.data} />}
        {owns && (
          <Button look="primary" small className="ml-auto" onClick={() => newAgent(projectId)}>
            <Plus size={15} aria-hidden />
            {t("new")}
          </Button>
        )}
      </header>
      {failed ? (
        <Failed
          error={failed}
          retry={() => {
            void everybody.refetch();
            void inside.refetch();
          }}
        />
      ) : everybody.data && inside.data ? (
        <Tree projectId={projectId} agents={everybody.data} members={inside.data} acts={acts} />
      ) : (
        <Loading rows={6} />
      )}
      {dialogs}
    </div>
  );
}

function Counts({ agents: all }: { agents: readonly Agent[] }) {
  const { t } = useTranslation("team");
  const people = all.filter((each) => each.kind === "human").length;
  return (
    <p className="text-soft">
      {t("programs", { count: all.length - people })} · {t("people", { count: people })}
    </p>
  );
}

interface TreeProps {
  projectId: string;
  agents: readonly Agent[];
  members: readonly Agent[];
  acts: Acts;
}

function Tree({ projectId, agents: all, members: inside, acts }: TreeProps) {
  const { t } = useTranslation("team");
  const states = useQuery(overview(projectId)).data?.team ?? [];
  const byId = new Map(states.filter((each) => each.project_id === projectId).map((each) => [each.agent_id, each]));
  const ids = inside.map((each) => each.agent_id);
  if (ids.length === 0)
    return (
      <Empty icon={<Users size={28} />} title={t("empty")}>
        {t("emptyText")}
      </Empty>
    );
  return <Branches branches={forest(all, ids)} states={byId} projectId={projectId} acts={acts} top />;
}

interface BranchesProps {
  branches: readonly Branch[];
  states: ReadonlyMap<string, Member>;
  projectId: string;
  acts: Acts;
  top?: boolean;
}

function Branches({ branches, states, projectId, acts, top = false }: BranchesProps) {
  return (
    <ul className={top ? "space-y-3" : "mt-2 ml-4 space-y-2 border-l border-line pl-3 sm:ml-5 sm:pl-5"}>
      {branches.map((branch) => (
        <li
          key={branch.agent.agent_id}
          className={
            top
              ? ""
              : "relative before:absolute before:top-7 before:-left-3 before:w-3 before:border-t before:border-line sm:before:-left-5 sm:before:w-5"
          }
        >
          <Person branch={branch} member={states.get(branch.agent.agent_id)} projectId={projectId} acts={acts} />
          {branch.below.length > 0 && (
            <Branches branches={branch.below} states={states} projectId={projectId} acts={acts} />
          )}
        </li>
      ))}
    </ul>
  );
}
