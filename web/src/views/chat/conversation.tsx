// A conversation of two agents: whose turn it is, how many turns are left, what was said; and ending it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, MessageCircleMore } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import type { Conversation } from "@/api/model";
import { agents, conversation } from "@/api/queries";
import { useWrites } from "@/app/may";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Button, Confirm, Failed, IconButton, Loading, Prose, useToast } from "@/ui";
import { Messages } from "@/views/chat/messages";
import { useScrolling } from "@/views/chat/scrolling";

function useNames(): (id: string) => string {
  const known = useQuery(agents).data ?? [];
  return (id) => known.find((each) => each.agent_id === id)?.name ?? id;
}

/** Who speaks next, and how much may still be said. */
export function TurnBar({ conversation: each }: { conversation: Conversation }) {
  const { t } = useTranslation("chat");
  const name = useNames();
  const part = Math.min(100, (each.turns / each.max_turns) * 100);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-violet-soft px-4 py-2 text-[13px]">
      <MessageCircleMore size={15} className="text-violet" aria-hidden />
      {each.turn_of === null ? (
        <span>{t(`conversationState.${each.state}`)}</span>
      ) : (
        <span className="font-medium">{t("turn", { name: name(each.turn_of) })}</span>
      )}
      <span className="flex items-center gap-2 text-soft tabular-nums">
        <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-panel">
          <span className="block h-full bg-violet" style={{ width: `${part}%` }} />
        </span>
        {t("turns", { turns: each.turns, max: each.max_turns })}
      </span>
    </div>
  );
}

export function ConversationPane({ id, back }: { id: string; back: () => void }) {
  const { t } = useTranslation("chat");
  const name = useNames();
  const found = useQuery(conversation(id));
  const writes = useWrites();
  const last = found.data?.messages.at(-1)?.sequence ?? 0;
  const { box, onScroll } = useScrolling(0, last, () => undefined);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const each = found.data.conversation;
  const open = each.state === "pending" || each.state === "active";
  return (
    <>
      <header className="flex min-h-12 shrink-0 items-center gap-2 border-b border-line px-2 py-1.5 md:px-4">
        <IconButton label={t("back")} className="md:hidden" onClick={back}>
          <ArrowLeft size={18} />
        </IconButton>
        <h2 className="min-w-0 truncate font-semibold">
          {name(each.initiator_id)} · {name(each.partner_id)}
        </h2>
        <Badge tone={open ? "violet" : "plain"}>{t(`conversationState.${each.state}`)}</Badge>
        <span className="ml-auto flex items-center gap-2">
          {each.task_id !== null && (
            <Link to="/t/$taskId" params={{ taskId: each.task_id }} className="text-[13px] link">
              {t("seeTask")}
            </Link>
          )}
          {open && writes && <End conversation={each} name={name} />}
        </span>
      </header>
      {open && <TurnBar conversation={each} />}
      <div ref={box} onScroll={onScroll} className="min-h-0 flex-1 overflow-y-auto px-4 py-4 md:px-6">
        <div className="mx-auto flex max-w-3xl flex-col gap-4">
          {each.purpose && <Prose text={each.purpose} className="text-soft" />}
          <Messages messages={found.data.messages} me={null} />
          {!open && <Over conversation={each} name={name} />}
        </div>
      </div>
    </>
  );
}

function Over({ conversation: each, name }: { conversation: Conversation; name: (id: string) => string }) {
  const { t } = useTranslation("chat");
  const reason = t(`endReason.${each.reason ?? ""}`, { defaultValue: each.reason ?? "" });
  const by = each.ended_by === null ? t("system") : name(each.ended_by);
  return (
    <div className="rounded-lg border border-line bg-sunken px-3 py-2 text-[13px] text-soft">
      <p>{t("endedBy", { name: by, reason })}</p>
      {each.summary && (
        <>
          <p className="mt-2 text-xs text-faint">{t("summary")}</p>
          <Prose text={each.summary} />
        </>
      )}
    </div>
  );
}

function End({ conversation: each, name }: { conversation: Conversation; name: (id: string) => string }) {
  const { t } = useTranslation("chat");
  const toast = useToast();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  async function end() {
    await api.post("/conversations/{conversation_id}/end", { path: { conversation_id: each.conversation_id } });
    toast.done(t("ended"));
    void client.invalidateQueries({ queryKey: ["conversations"] });
  }
  return (
    <>
      <Button small look="danger" onClick={() => setAsking(true)}>
        {t("end")}
      </Button>
      <Confirm open={asking} title={t("endTitle")} action={t("end")} onConfirm={end} onClose={() => setAsking(false)}>
        {t("endText", { one: name(each.initiator_id), other: name(each.partner_id) })}
      </Confirm>
    </>
  );
}
