// Talking with agents: the threads on the left, one of them on the right; on a phone one of the two.
import { useQuery } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";

import { me } from "@/api/queries";
import { navigate, useParams, useSearch } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Bar, Empty, Loading } from "@/ui";
import { ConversationPane } from "@/views/chat/conversation";
import { ThreadPane } from "@/views/chat/pane";
import { Threads, type Chosen } from "@/views/chat/threads";

export function Chat() {
  const { projectId = "" } = useParams();
  const { t } = useTranslation();
  const { agent, by, tab } = useSearch();
  const person = useQuery(me).data;
  const chosen: Chosen = { agent, by, tab };
  const choose = (next: Chosen) =>
    void navigate({ to: "/p/$projectId/chat", params: { projectId }, search: withoutNothing(next) });
  const open = agent !== undefined || tab !== undefined;
  if (person === undefined) return <Loading />;
  return (
    <div className="flex h-full min-h-0">
      <Bar title={t("nav.chat")} />
      <div className={`${open ? "hidden md:flex" : "flex"} w-full shrink-0 flex-col border-r border-line md:w-80`}>
        <Threads projectId={projectId} me={person.person_id} chosen={chosen} choose={choose} />
      </div>
      <div className={`${open ? "flex" : "hidden md:flex"} min-w-0 flex-1 flex-col`}>
        <Open projectId={projectId} me={person.person_id} chosen={chosen} back={() => choose({})} />
      </div>
    </div>
  );
}

function Open({
  projectId,
  me: mine,
  chosen,
  back,
}: {
  projectId: string;
  me: string;
  chosen: Chosen;
  back: () => void;
}) {
  const { t } = useTranslation("chat");
  if (chosen.tab !== undefined) return <ConversationPane key={chosen.tab} id={chosen.tab} back={back} />;
  if (chosen.agent === undefined)
    return (
      <div className="m-auto">
        <Empty icon={<MessagesSquare size={28} aria-hidden />} title={t("choose")}>
          {t("chooseHelp")}
        </Empty>
      </div>
    );
  const between = { projectId, agentId: chosen.agent, withId: chosen.by };
  return <ThreadPane key={`${chosen.agent} ${chosen.by ?? ""}`} between={between} me={mine} back={back} />;
}

function withoutNothing(chosen: Chosen): { agent?: string; by?: string; tab?: string } {
  return {
    ...(chosen.agent === undefined ? {} : { agent: chosen.agent }),
    ...(chosen.by === undefined ? {} : { by: chosen.by }),
    ...(chosen.tab === undefined ? {} : { tab: chosen.tab }),
  };
}
