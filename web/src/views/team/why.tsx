// Why an agent runs or not: the row of the table that won, the facts it read, and when that changes by itself.
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { CircleHelp, Hand, Play, Square } from "lucide-react";
import { useState } from "react";

import type { Decision } from "@/api/model";
import { why } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Button, Countdown, DecisionFacts, EscapeCloses, Failed, Loading, Told, shownAction } from "@/ui";

export function Why({ agentId, name, projectId }: { agentId: string; name: string; projectId: string }) {
  const { t } = useTranslation("team");
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button small look="quiet" aria-label={t("whyOf", { name })}>
          <CircleHelp size={14} aria-hidden />
          <span className="hidden sm:inline">{t("why")}</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={12}
          aria-label={t("whyOf", { name })}
          className="z-50 max-h-[70vh] w-[min(26rem,calc(100vw-1.5rem))] overflow-auto rounded-xl border border-line bg-panel shadow-[var(--shadow)]"
        >
          <EscapeCloses onClose={() => setOpen(false)} />
          <Reasons agentId={agentId} projectId={projectId} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Reasons({ agentId, projectId }: { agentId: string; projectId: string }) {
  const known = useQuery({ ...why(agentId), refetchOnMount: "always" });
  if (known.isPending) return <Loading rows={3} />;
  if (known.isError) return <Failed error={known.error} retry={() => void known.refetch()} />;
  return (
    <div className="divide-y divide-line">
      {known.data
        .filter((each) => each.project_id === projectId)
        .map((each) => (
          <Reason key={each.purpose} decision={each} />
        ))}
    </div>
  );
}

const ACTIONS = {
  start: { icon: Play, tone: "text-green" },
  hold: { icon: Hand, tone: "text-amber" },
  stop: { icon: Square, tone: "text-red" },
};

export function Reason({ decision }: { decision: Decision }) {
  const { t } = useTranslation("team");
  const action = shownAction(decision);
  const { icon: Icon, tone } = ACTIONS[action];
  return (
    <section className="space-y-2 p-4">
      <h3 className="flex items-center gap-2 font-semibold">
        <Icon size={15} aria-hidden className={tone} />
        {t(`purpose.${decision.purpose}`)}: {t(`action.${action}`)}
        {decision.until !== null && (
          <span className="ml-auto text-xs font-normal text-amber">
            <Countdown until={decision.until} />
          </span>
        )}
      </h3>
      <p className="break-words">
        <Told text={decision.summary} />
      </p>
      <p className="text-xs text-faint">
        {decision.rule}
        {decision.since !== null && (
          <>
            {" "}
            · <Ago at={decision.since} />
          </>
        )}
      </p>
      <DecisionFacts decision={decision} />
    </section>
  );
}
