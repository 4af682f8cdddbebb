// Why an agent does or does not run: what the launch decision says of it now, project by project.
import { useQuery } from "@tanstack/react-query";

import { why } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { DecisionCard, Dialog, Failed, Loading } from "@/ui";

export function WhyDialog({ agentId, name, onClose }: { agentId: string; name: string; onClose: () => void }) {
  const { t } = useTranslation("home");
  const decisions = useQuery(why(agentId));
  return (
    <Dialog open onClose={onClose} title={t("whyTitle", { name })}>
      {decisions.isPending && <Loading />}
      {decisions.isError && <Failed error={decisions.error} retry={() => void decisions.refetch()} />}
      <div className="space-y-3">
        {decisions.data?.map((each) => (
          <DecisionCard key={`${each.project_id} ${each.purpose}`} decision={each} />
        ))}
      </div>
    </Dialog>
  );
}
