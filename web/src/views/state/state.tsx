// What the agents of a project share: each value as a tree, with its version, who set it and how long it lasts, and
// who had set it before.
import { useQuery } from "@tanstack/react-query";
import { Database, History as Clock } from "lucide-react";
import { useState } from "react";

import type { SharedValue } from "@/api/model";
import { sharedState } from "@/api/queries";
import { useNames } from "@/app/names";
import { useParams } from "@/app/routing";
import type { Names } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Bar, Button, Countdown, Empty, Failed, Loading, TextField } from "@/ui";
import { History } from "@/views/state/history";
import { Tree } from "@/views/state/tree";

export function SharedState() {
  const { t } = useTranslation("state");
  const { projectId = "" } = useParams();
  const found = useQuery(sharedState(projectId));
  const names = useNames(projectId);
  const [words, setWords] = useState("");
  if (found.isPending) return <Loading rows={6} />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const shown = found.data.filter((each) => matches(each, words));
  return (
    <div className="mx-auto max-w-5xl space-y-3 p-4 md:p-6">
      <Bar title={t("title")} />
      {found.data.length === 0 ? (
        <Empty icon={<Database size={26} aria-hidden />} title={t("none")}>
          {t("noneHelp")}
        </Empty>
      ) : (
        <TextField bare type="search" label={t("filter")} placeholder={t("filter")} value={words} onChange={setWords} />
      )}
      {found.data.length > 0 && shown.length === 0 && <Empty title={t("noneFound")} />}
      {shown.map((each) => (
        <Value key={each.key} each={each} projectId={projectId} names={names} />
      ))}
    </div>
  );
}

function matches(each: SharedValue, words: string): boolean {
  return `${each.key} ${JSON.stringify(each.value)}`.toLowerCase().includes(words.trim().toLowerCase());
}

function Value({ each, projectId, names }: { each: SharedValue; projectId: string; names: Names }) {
  const { t } = useTranslation("state");
  const [looks, setLooks] = useState(false);
  return (
    <section aria-label={each.key} className="rounded-lg border border-line bg-panel">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <h2 className="min-w-0 font-mono text-[13px] font-semibold break-all">{each.key}</h2>
        <Badge>{t("version", { version: each.version })}</Badge>
        <span className="ml-auto flex flex-wrap items-center gap-x-3 text-xs text-faint">
          <span>
            {t("by", { name: names.agent(each.updated_by) })} · <Ago at={each.updated_at} />
          </span>
          <span>
            {t("expires")}: <Countdown until={each.expires_at} />
          </span>
          <Button small look="quiet" aria-expanded={looks} onClick={() => setLooks(!looks)}>
            <Clock size={13} aria-hidden />
            {t("history")}
          </Button>
        </span>
      </header>
      <div className="overflow-x-auto px-3 py-2 font-mono text-[13px] leading-relaxed">
        <Tree value={each.value} />
      </div>
      {looks && <History key={each.version} projectId={projectId} name={each.key} names={names} />}
    </section>
  );
}
