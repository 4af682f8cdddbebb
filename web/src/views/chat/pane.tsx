// One thread: what was said, whether the other side is there, and the line to write on.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowLeft, Eye, X } from "lucide-react";
import { useCallback, useRef } from "react";

import type { Agent, ChatStatus } from "@/api/model";
import { agents } from "@/api/queries";
import { openQuestions } from "@/api/questions";
import { DoingOf } from "@/app/doing-of";
import { useWrites } from "@/app/may";
import { QuestionForm } from "@/app/question-form";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Button, Failed, IconButton, Loading } from "@/ui";
import { Composer } from "@/views/chat/composer";
import { TurnBar } from "@/views/chat/conversation";
import { Messages, Pending } from "@/views/chat/messages";
import { useOutbox } from "@/views/chat/outbox";
import { usePanel } from "@/views/chat/panel";
import { useScrolling } from "@/views/chat/scrolling";
import { StateBadge, Why } from "@/views/chat/status";
import { readOlder, thread, type Between, type Thread } from "@/views/chat/thread";

interface PaneProps {
  between: Between;
  me: string;
  back: () => void;
}

export function ThreadPane({ between, me, back }: PaneProps) {
  const { t } = useTranslation("chat");
  const found = useQuery(thread(between));
  const other = useQuery(agents).data?.find((each) => each.agent_id === between.agentId);
  const name = other?.name ?? between.agentId;
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-2 md:px-4">
        <IconButton label={t("back")} className="md:hidden" onClick={back}>
          <ArrowLeft size={18} />
        </IconButton>
        <Avatar id={between.agentId} name={name} size={28} />
        <h2 className="min-w-0 truncate font-semibold">{name}</h2>
        {found.data && <StateBadge status={found.data.status} />}
        {found.data?.status.state === "connected" && (
          <DoingOf agent={between.agentId} project={between.projectId} purpose="chat" className="hidden sm:flex" />
        )}
        <div className="ml-auto flex min-w-0 items-center gap-2">
          <Model agent={other} />
          <span className="hidden md:inline">
            <IconButton label={t("close")} onClick={back}>
              <X size={16} />
            </IconButton>
          </span>
        </div>
      </header>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data && <Read {...{ between, me, name }} read={found.data} />}
    </>
  );
}

function Model({ agent }: { agent: Agent | undefined }) {
  if (agent === undefined || agent.kind === "human") return null;
  const words = [agent.provider, agent.model].filter(Boolean).join(" · ");
  return <span className="hidden truncate text-xs text-faint sm:inline">{words}</span>;
}

function Read({ between, me, name, read }: { between: Between; me: string; name: string; read: Thread }) {
  const { t } = useTranslation("chat");
  const client = useQueryClient();
  const writes = useWrites();
  const outbox = useOutbox(between);
  const reading = useRef(false);
  const first = read.messages[0]?.sequence ?? 0;
  const newest = read.messages.at(-1)?.sequence ?? 0;
  const older = useCallback(() => {
    if (reading.current || !read.more) return;
    reading.current = true;
    void readOlder(client, between)
      .catch(() => undefined) // scrolling up once more asks again
      .finally(() => (reading.current = false));
  }, [client, between, read.more]);
  const shown = `${newest} ${outbox.length} ${outbox.at(-1)?.state ?? ""}`;
  const { box, following, onScroll, follow } = useScrolling(first, shown, older);
  return (
    <>
      <Why status={read.status} />
      {!read.observing && <Asked between={between} />}
      {read.conversation !== null && <TurnBar conversation={read.conversation} />}
      <div className="relative min-h-0 flex-1">
        <div ref={box} onScroll={onScroll} className="h-full overflow-y-auto overscroll-contain px-4 py-4 md:px-6">
          <div className="mx-auto flex min-h-full max-w-3xl flex-col justify-end gap-4">
            {read.messages.length > 0 && (
              <p className="text-center text-xs text-faint">{t(read.more ? "olderLoading" : "first")}</p>
            )}
            <Messages messages={read.messages} me={read.observing ? null : me} />
            <Pending all={outbox} between={between} me={me} />
            <Coming status={read.status} name={name} waiting={read.messages.at(-1)?.from_agent_id === me} />
          </div>
        </div>
        {!following && (
          <Button small className="absolute right-4 bottom-3 shadow-[var(--shadow)]" onClick={follow}>
            <ArrowDown size={14} aria-hidden />
            {t("newer")}
          </Button>
        )}
      </div>
      {read.observing ? (
        <Observing between={between} name={name} />
      ) : (
        writes && <Talking {...{ between, name, newest }} />
      )}
    </>
  );
}

/** What the other side has asked about its tasks: answered here as well as on their pages. */
function Asked({ between }: { between: Between }) {
  const { t } = useTranslation("chat");
  const found = useQuery(openQuestions(between.projectId)).data ?? [];
  const asked = found.filter((each) => each.agent_id === between.agentId && !each.review);
  if (asked.length === 0) return null;
  const tasks = [...new Set(asked.map((each) => each.task_id))];
  return (
    <section aria-label={t("asked")} className="max-h-[45%] shrink-0 space-y-2 overflow-auto border-b border-line p-3">
      {tasks.map((taskId) => (
        <QuestionForm key={taskId} taskId={taskId} questions={asked.filter((each) => each.task_id === taskId)} />
      ))}
    </section>
  );
}

/** Only while an answer can come: whatever the other side or Toryo says ends it, and so does its leaving. */
function Coming({ status, name, waiting }: { status: ChatStatus; name: string; waiting: boolean }) {
  const { t } = useTranslation("chat");
  const there = status.state === "connected" ? "reads" : status.state === "connecting" ? "comes" : null;
  if (!waiting || there === null) return null;
  return (
    <p role="status" className="animate-pulse text-[13px] text-faint">
      {t(there, { name })}
    </p>
  );
}

function Talking({ between, name, newest }: { between: Between; name: string; newest: number }) {
  const client = useQueryClient();
  const { projectId, agentId } = between;
  const told = useCallback(
    (status: ChatStatus) => {
      client.setQueryData(thread({ projectId, agentId }).queryKey, (known) => (known ? { ...known, status } : known));
      void client.invalidateQueries({ queryKey: ["chats", projectId] }); // what was seen counts no more
    },
    [client, projectId, agentId],
  );
  usePanel(projectId, agentId, newest, told);
  return <Composer between={between} name={name} />;
}

function Observing({ between, name }: { between: Between; name: string }) {
  const { t } = useTranslation("chat");
  const other = useQuery(agents).data?.find((each) => each.agent_id === between.withId);
  return (
    <p className="flex items-center gap-2 border-t border-line bg-sunken px-4 py-3 text-soft">
      <Eye size={16} aria-hidden />
      {t("observing", { one: name, other: other?.name ?? between.withId ?? "" })}
    </p>
  );
}
