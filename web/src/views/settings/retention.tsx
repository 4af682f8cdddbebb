// How long what is over is kept, and how much there is of it. Changed with environment variables of the server.
import { useQuery } from "@tanstack/react-query";
import { Info } from "lucide-react";

import type { KindStanding } from "@/api/model";
import { retention } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Copyable, Failed, Loading, Panel, bytes } from "@/ui";
import { numberFormat } from "@/ui/formats";
import { Head } from "@/views/settings/parts";

export function RetentionTab() {
  const { t, i18n } = useTranslation("settings");
  const found = useQuery(retention);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} />;
  const { automatic, begins_at, database_bytes, kinds } = found.data;
  return (
    <>
      <Head title={t("tabs.retention")} help={t("retention.help", { size: bytes(database_bytes, i18n.language) })} />
      {(!automatic || begins_at !== null) && (
        <p className="flex gap-2 rounded-lg border border-line bg-amber-soft px-3 py-2.5">
          <Info size={16} className="mt-0.5 shrink-0 text-amber" aria-hidden />
          <span>
            {automatic && begins_at !== null
              ? t("retention.begins", { when: new Date(begins_at).toLocaleString(i18n.language) })
              : t("retention.byHand")}
          </span>
        </p>
      )}
      <Panel>
        <Kinds kinds={kinds} />
      </Panel>
      <Panel title={t("retention.now")}>
        <div className="space-y-3 px-4 py-3">
          <p className="text-soft">{t("retention.exportText")}</p>
          <Copyable text="toryo export events --output events.jsonl" />
          <p className="text-soft">{t("retention.pruneText")}</p>
          <Copyable text="toryo db prune" />
        </div>
      </Panel>
    </>
  );
}

function Kinds({ kinds }: { kinds: readonly KindStanding[] }) {
  const { t, i18n } = useTranslation("settings");
  const number = (count: number) => numberFormat(i18n.language, {}).format(count);
  const heads = ["kept", "rows", "oldest", "due"] as const;
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-[13px]">
        <thead>
          <tr className="border-b border-line text-xs text-faint">
            <th scope="col" className="px-4 py-2 text-left font-medium">
              {t("retention.kind")}
            </th>
            {heads.map((each) => (
              <th key={each} scope="col" className="px-4 py-2 text-right font-medium whitespace-nowrap">
                {t(`retention.${each}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {kinds.map((each) => (
            <tr key={each.kind}>
              <th scope="row" className="px-4 py-2 text-left font-normal">
                {t(`retention.kinds.${each.kind}`)}
                <span className="hidden font-mono text-[11px] text-faint sm:block">{each.setting}</span>
              </th>
              <td className="px-4 py-2 text-right whitespace-nowrap">
                {each.days === null ? t("retention.forever") : t("retention.days", { count: each.days })}
              </td>
              <td className="px-4 py-2 text-right tabular-nums">{each.rows === null ? "" : number(each.rows)}</td>
              <td className="px-4 py-2 text-right whitespace-nowrap">
                {each.oldest !== null && <Ago at={each.oldest} />}
              </td>
              <td className="px-4 py-2 text-right tabular-nums">{number(each.due)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
