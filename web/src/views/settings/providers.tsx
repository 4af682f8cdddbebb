// The programs that agents run: on which machines each is installed, and which agents use it. What is used and missing
// comes first.
import { useQuery } from "@tanstack/react-query";
import { Boxes } from "lucide-react";

import type { Agent } from "@/api/model";
import { agents, serverStatus } from "@/api/queries";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Badge, Empty, Failed, Loading, Panel } from "@/ui";
import { Head } from "@/views/settings/parts";
import { programsOf, type Program } from "@/views/settings/programs";

interface Used extends Program {
  by: Agent[];
}

export function ProvidersTab() {
  const { t } = useTranslation("settings");
  const machines = useQuery(serverStatus);
  const team = useQuery(agents);
  const failed = machines.error ?? team.error;
  if (failed !== null) return <Failed error={failed} />;
  if (machines.data === undefined || team.data === undefined) return <Loading />;
  const shown = usedFirst(machines.data.coordinators, team.data);
  return (
    <>
      <Head title={t("tabs.providers")} help={t("provider.help")} />
      <Panel>
        {shown.length === 0 && <Empty icon={<Boxes size={24} aria-hidden />} title={t("program.noMachine")} />}
        <ul className="divide-y divide-line">
          {shown.map((each) => (
            <One key={each.name} each={each} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

/** All that is installed or used: what an agent needs and no machine can start, then the other ones. */
function usedFirst(machines: Parameters<typeof programsOf>[0], team: readonly Agent[]): Used[] {
  const running = team.filter((each) => each.kind === "ai" && each.status === "active");
  const wanted = running.flatMap((each) => each.provider ?? []);
  const lacks = (each: Used) => Number(each.by.length > 0 && each.on.length === 0);
  return programsOf(machines, wanted)
    .map((each) => ({ ...each, by: running.filter(({ provider }) => provider === each.name) }))
    .filter(({ on, away, by }) => on.length + away.length + by.length > 0)
    .toSorted((one, other) => lacks(other) - lacks(one));
}

function One({ each: { name, on, away, by } }: { each: Used }) {
  const { t } = useTranslation("settings");
  return (
    <li className="space-y-2 px-4 py-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{t(`program.names.${name}`, { defaultValue: name })}</span>
        {on.length > 0 && <Badge tone="green">{t("program.on", { names: on.join(", ") })}</Badge>}
        {away.length > 0 && <Badge tone="amber">{t("program.away", { names: away.join(", ") })}</Badge>}
        {on.length + away.length === 0 && <Badge tone="red">{t("program.missing")}</Badge>}
      </p>
      <ul className="flex flex-wrap items-center gap-x-4 gap-y-1 text-[13px]">
        {by.length === 0 && <li className="text-soft">{t("provider.nobody")}</li>}
        {by.map(({ agent_id: id, name: called }) => (
          <li key={id}>
            <Link
              to="/settings"
              search={{ tab: "agents", agent: id }}
              className="inline-flex min-h-6 items-center gap-1.5 hover:underline"
            >
              <Avatar id={id} name={called} size={18} />
              {called}
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
}
