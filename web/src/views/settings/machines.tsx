// The server and the machines that start agents: whether they answer, what they can start, and how to add one.
import { useQuery } from "@tanstack/react-query";
import { Server } from "lucide-react";

import type { ServerStatus } from "@/api/model";
import { serverStatus } from "@/api/queries";
import { programOf } from "@/app/program-of";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Copyable, Empty, Failed, Loading, Panel } from "@/ui";
import { Head } from "@/views/settings/parts";

const AWAY_SECONDS = 60;

export function MachinesTab() {
  const { t } = useTranslation("settings");
  const found = useQuery(serverStatus);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} />;
  const { version, database, coordinators } = found.data;
  return (
    <>
      <Head title={t("tabs.machines")} />
      <Panel title={t("machine.server")}>
        <p className="flex flex-wrap gap-x-6 px-4 py-3">
          <span>{t("machine.version", { version })}</span>
          <span>{t("machine.database", { name: database })}</span>
        </p>
      </Panel>
      <Panel title={t("machine.coordinators")}>
        {coordinators.length === 0 && <Empty icon={<Server size={24} aria-hidden />} title={t("machine.none")} />}
        <ul className="divide-y divide-line">
          {coordinators.map((each) => (
            <Coordinator key={each.coordinator_id} each={each} />
          ))}
        </ul>
      </Panel>
      <Panel title={t("machine.add")}>
        <div className="space-y-3 px-4 py-3">
          <p className="text-soft">{t("machine.addText")}</p>
          <Copyable text={`TORYO_TOKEN=… toryo coordinator --server ${location.origin}`} />
          <p className="text-soft">{t("machine.doctor")}</p>
          <Copyable text="toryo doctor" />
        </div>
      </Panel>
    </>
  );
}

function Coordinator({ each }: { each: ServerStatus["coordinators"][number] }) {
  const { t } = useTranslation("settings");
  const away = each.seconds_ago > AWAY_SECONDS;
  return (
    <li className="space-y-2 px-4 py-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-mono font-medium">{each.coordinator_id}</span>
        <Badge tone={away ? "red" : "green"}>{t(away ? "machine.away" : "machine.here")}</Badge>
        <span className="text-[13px] text-soft">{t("machine.running", { count: each.running })}</span>
        <span className="ml-auto text-[13px] text-faint">
          {t("machine.seen")}: <Ago at={each.seen_at} />
        </span>
      </p>
      <p className="flex flex-wrap items-center gap-1.5 text-[13px] text-soft">
        {t("machine.providers")}: {each.providers.length === 0 && <span>{t("machine.anything")}</span>}
        {each.providers
          .flatMap((name) => loginsOf(name, each.accounts[name]))
          .map((login) => (
            <Badge key={login} wraps>
              {login}
            </Badge>
          ))}
      </p>
      {each.labels.length > 0 && (
        <p className="flex flex-wrap items-center gap-1.5 text-[13px] text-soft">
          {t("machine.labels")}:
          {each.labels.map((name) => (
            <Badge key={name} tone="violet" wraps>
              {name}
            </Badge>
          ))}
        </p>
      )}
    </li>
  );
}

/** A provider, or one entry for each of its accounts where the Coordinator's file names some. */
const loginsOf = (provider: string, accounts = [provider]) =>
  accounts.map((account) => programOf({ ai_type: provider, model: null, account }));
