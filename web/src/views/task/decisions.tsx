// Why the agent of a task runs or not: the decision as it stands now, and those that were recorded.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import type { Task } from "@/api/model";
import { history, why } from "@/api/queries";
import { inWords } from "@/app/sentence";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, DecisionCard, Empty, Failed, Loading } from "@/ui";

export function Decisions({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  if (task.assignee_id === null) return <Empty title={t("decisions.nobody")} />;
  return <OfAgent agentId={task.assignee_id} projectId={task.project_id} />;
}

function OfAgent({ agentId, projectId }: { agentId: string; projectId: string }) {
  const { t } = useTranslation("task");
  const { t: audit } = useTranslation("audit");
  const now = useQuery(why(agentId));
  const before = useInfiniteQuery(history({ agent_id: agentId, project_id: projectId, kind: "decision.launch" }));
  if (now.isPending) return <Loading />;
  if (now.isError) return <Failed error={now.error} retry={() => void now.refetch()} />;
  const recorded = before.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <div className="space-y-5">
      <section className="space-y-2">
        <h3 className="text-[13px] font-semibold">{t("decisions.now")}</h3>
        {now.data
          .filter((each) => each.project_id === projectId)
          .map((each) => (
            <DecisionCard key={each.purpose} decision={each} />
          ))}
      </section>
      <section>
        <h3 className="mb-2 text-[13px] font-semibold">{t("decisions.before")}</h3>
        {recorded.length === 0 && <p className="text-soft">{t("decisions.none")}</p>}
        <ol className="divide-y divide-line rounded-lg border border-line empty:hidden">
          {recorded.map((each) => (
            <li key={each.event_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
              <Badge tone={each.data.action === "start" ? "green" : each.data.action === "stop" ? "red" : "amber"}>
                {t(`decision.${String(each.data.action)}`)}
              </Badge>
              <span className="min-w-0 flex-1 break-words text-[13px] text-soft">
                {String(each.data.rule ?? inWords(String(each.data.reason ?? ""), audit))}
              </span>
              <span className="ml-auto text-xs text-faint">
                <Ago at={each.at} />
              </span>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}
