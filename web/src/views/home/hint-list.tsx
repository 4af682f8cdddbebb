// The hints of the demo, each with the way to what it speaks of.
import { useQuery } from "@tanstack/react-query";
import { Lightbulb, X } from "lucide-react";

import type { Need } from "@/api/model";
import { agents } from "@/api/queries";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui";
import { hintsOf, useDismissed, type Hint } from "@/views/home/hints";

const WATCHED = ["timeline", "graph", "logs", "usage"] as const;
const LINK = "font-medium text-ink underline";

interface HintListProps {
  needs: readonly Need[];
  /** Of the demo; the first is the one to watch. */
  projectIds: readonly string[];
}

export function HintList({ needs, projectIds }: HintListProps) {
  const { t } = useTranslation("home");
  const { dismissed, dismiss } = useDismissed();
  const hints = hintsOf(needs, projectIds).filter((each) => !dismissed.includes(each.kind));
  if (hints.length === 0) return null;
  return (
    <ul aria-label={t("hint.title")} className="divide-y divide-line border-t border-line">
      {hints.map((each) => (
        <li key={each.kind} className="flex items-center gap-2 px-4 py-1 text-[13px] text-soft">
          <Lightbulb size={15} className="shrink-0 text-amber" aria-hidden />
          <p className="min-w-0 flex-1">
            <Words hint={each} watched={projectIds[0] ?? ""} />
          </p>
          <IconButton label={t("hint.dismiss")} small onClick={() => dismiss(each.kind)}>
            <X size={14} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

function Words({ hint: { kind, need }, watched }: { hint: Hint; watched: string }) {
  const { t } = useTranslation("home");
  const names = new Map(useQuery(agents).data?.map((each) => [each.agent_id, each.name]));
  const who = need?.agent_id == null ? "" : (names.get(need.agent_id) ?? need.agent_id);
  const project = need?.project_id ?? watched;
  if (kind === "approval") return t("hint.approval", { who });
  if (kind === "message")
    return (
      <>
        {t("hint.message", { who })}{" "}
        <Link
          to="/p/$projectId/chat"
          params={{ projectId: project }}
          search={{ agent: need?.agent_id ?? "" }}
          className={LINK}
        >
          {t("nav.chat")}
        </Link>
      </>
    );
  if (kind === "review")
    return (
      <>
        {t("hint.review")}{" "}
        <Link
          to="/p/$projectId/review/$taskId"
          params={{ projectId: project, taskId: need?.task_id ?? "" }}
          className={LINK}
        >
          {t("nav.review")}
        </Link>
      </>
    );
  return (
    <>
      {t("hint.watch")}{" "}
      {WATCHED.map((view, at) => (
        <span key={view}>
          {at > 0 && " · "}
          <Link to={`/p/$projectId/${view}`} params={{ projectId: project }} className={LINK}>
            {t(`nav.${view}`)}
          </Link>
        </span>
      ))}
    </>
  );
}
