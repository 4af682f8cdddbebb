// The agents: making one (its passkey is shown once), and opening one to change it.
import { useQuery } from "@tanstack/react-query";
import { Bot, Plus } from "lucide-react";
import { useState } from "react";

import type { Agent } from "@/api/model";
import { agents } from "@/api/queries";
import { useOwns } from "@/app/may";
import { newAgent } from "@/app/overlays";
import { navigate, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Badge, Button, Dialog, Empty, Failed, Loading, Panel } from "@/ui";
import { AgentForm } from "@/views/settings/agent";
import { NewAgent } from "@/views/settings/new-agent";
import { Head, Once } from "@/views/settings/parts";

/** In the address: the form for a new one is open. */
const NEW = "new";

export function AgentsTab() {
  const { t } = useTranslation("settings");
  const found = useQuery(agents);
  const { agent, q } = useSearch();
  const open = (id: string | null) =>
    void navigate({ to: "/settings", search: { tab: "agents", ...(id === null ? {} : { agent: id }) } });
  const owns = useOwns();
  const [passkey, setPasskey] = useState<string | null>(null);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} />;
  const programs = found.data.filter((each) => each.kind === "ai");
  const chosen = found.data.find((each) => each.agent_id === agent);
  return (
    <>
      <Head title={t("tabs.agents")}>
        {owns && (
          <Button look="primary" onClick={() => newAgent()}>
            <Plus size={15} aria-hidden />
            {t("agent.new")}
          </Button>
        )}
      </Head>
      <Panel>
        {programs.length === 0 && (
          <Empty icon={<Bot size={24} aria-hidden />} title={t("agent.none")}>
            {t("agent.noneHelp")}
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {programs.map((each) => (
            <li key={each.agent_id}>
              <Row each={each} onClick={() => open(each.agent_id)} />
            </li>
          ))}
        </ul>
      </Panel>
      <Dialog side open={chosen !== undefined} onClose={() => open(null)} title={chosen?.name ?? ""}>
        {chosen !== undefined && <AgentForm key={chosen.agent_id} agent={chosen} onPasskey={setPasskey} />}
      </Dialog>
      {q === NEW && <NewAgent close={() => open(null)} />}
      <Once title={t("agent.passkey")} secret={passkey} onClose={() => setPasskey(null)} />
    </>
  );
}

function Row({ each, onClick }: { each: Agent; onClick: () => void }) {
  const { t } = useTranslation("settings");
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex w-full items-center gap-3 px-4 py-2.5 text-left hover:bg-sunken"
    >
      <Avatar id={each.agent_id} name={each.name} size={30} />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{each.name}</span>
        <span className="block truncate text-xs text-faint">
          {[each.agent_id, each.provider, each.model].filter(Boolean).join(" · ")}
        </span>
      </span>
      {each.status === "inactive" && <Badge tone="amber">{t("agent.inactive")}</Badge>}
      <Badge>{t(`role.${each.role}`)}</Badge>
    </button>
  );
}
