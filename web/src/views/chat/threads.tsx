// The threads of a project: mine, the newest first, with what I have not seen; then what agents say among themselves.
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState, type ReactNode } from "react";

import type { Agent, ChatThread, Conversation } from "@/api/model";
import { agents, board, chats, conversations, members } from "@/api/queries";
import { useWrites } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Badge, Button, Dialog, Empty, Failed, Loading, usePlainly } from "@/ui";
import { StateDot } from "@/views/chat/status";

/** What is open: a thread with an agent (perhaps of somebody else), or a conversation of agents. */
export interface Chosen {
  agent?: string | undefined;
  by?: string | undefined;
  tab?: string | undefined;
}

interface ThreadsProps {
  projectId: string;
  me: string;
  chosen: Chosen;
  choose: (next: Chosen) => void;
}

export function Threads({ projectId, me, chosen, choose }: ThreadsProps) {
  const { t } = useTranslation("chat");
  const found = useQuery(chats(projectId));
  const among = useQuery(conversations(projectId));
  useQuery(board(projectId)); // the titles of tasks that messages name
  const [starting, setStarting] = useState(false);
  const writes = useWrites();
  if (found.isPending) return <Loading rows={6} />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  return (
    <>
      <header className="flex h-12 shrink-0 items-center justify-between border-b border-line px-4">
        <h2 className="font-semibold">{t("threads")}</h2>
        {writes && (
          <Button small onClick={() => setStarting(true)}>
            <Plus size={15} aria-hidden />
            {t("start")}
          </Button>
        )}
      </header>
      <div className="min-h-0 flex-1 overflow-auto pb-4">
        {found.data.length === 0 && <Empty title={t("none")}>{t("noneHelp")}</Empty>}
        <ul>
          {found.data.map((each) => (
            <li key={`${each.agent_id} ${each.with_agent_id}`}>
              <ThreadRow thread={each} me={me} chosen={chosen.agent === each.agent_id} choose={choose} />
            </li>
          ))}
        </ul>
        {(among.data ?? []).length > 0 && (
          <Among all={among.data ?? []} chosen={chosen.tab} choose={(tab) => choose({ tab })} />
        )}
      </div>
      <StartDialog
        open={starting}
        close={() => setStarting(false)}
        {...{ projectId, me }}
        choose={(agent) => choose({ agent })}
      />
    </>
  );
}

function Row({ chosen, onClick, children }: { chosen: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      onClick={onClick}
      aria-current={chosen ? "true" : undefined}
      className={`flex min-h-14 w-full items-center gap-3 px-4 py-2.5 text-left transition-colors ${chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
    >
      {children}
    </button>
  );
}

interface ThreadRowProps {
  thread: ChatThread;
  me: string;
  chosen: boolean;
  choose: (next: Chosen) => void;
}

function ThreadRow({ thread, me, chosen, choose }: ThreadRowProps) {
  const { t } = useTranslation("chat");
  const mine = thread.newest?.from_agent_id === me;
  const plainly = usePlainly();
  const by = thread.observing ? thread.with_agent_id : undefined;
  return (
    <Row chosen={chosen} onClick={() => choose({ agent: thread.agent_id, by })}>
      <span className="relative">
        <Avatar id={thread.agent_id} name={thread.name} size={36} />
        <StateDot status={thread.status} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline justify-between gap-2">
          <span className={`truncate ${thread.unread > 0 ? "font-semibold" : "font-medium"}`}>{thread.name}</span>
          <span className="shrink-0 text-xs text-faint">
            <Ago at={thread.newest_at} />
          </span>
        </span>
        <span className="flex items-center gap-2">
          <span className={`min-w-0 flex-1 truncate text-[13px] ${thread.unread > 0 ? "text-ink" : "text-soft"}`}>
            {mine && `${t("you")}: `}
            {plainly(thread.newest?.content ?? "")}
          </span>
          {thread.unread > 0 && (
            <span
              aria-label={t("unread", { count: thread.unread })}
              className="inline-flex h-5 min-w-5 items-center justify-center rounded-full bg-accent px-1.5 text-[11px] font-semibold text-accent-ink"
            >
              {thread.unread}
            </span>
          )}
        </span>
      </span>
    </Row>
  );
}

const RUNNING = new Set<Conversation["state"]>(["pending", "active"]);

interface AmongProps {
  all: Conversation[];
  chosen: string | undefined;
  choose: (id: string) => void;
}

function Among({ all, chosen, choose }: AmongProps) {
  const { t } = useTranslation("chat");
  const people = useQuery(agents).data ?? [];
  const name = (id: string) => people.find((each) => each.agent_id === id)?.name ?? id;
  return (
    <section className="mt-3 border-t border-line pt-3">
      <h3 className="px-4 pb-1 text-xs font-medium text-faint">{t("between")}</h3>
      <ul>
        {all.map((each) => (
          <li key={each.conversation_id}>
            <Row chosen={chosen === each.conversation_id} onClick={() => choose(each.conversation_id)}>
              <span className="flex -space-x-1.5 [&>*]:ring-2 [&>*]:ring-paper">
                <Avatar id={each.initiator_id} name={name(each.initiator_id)} size={24} />
                <Avatar id={each.partner_id} name={name(each.partner_id)} size={24} />
              </span>
              <span className="min-w-0 flex-1">
                <span className="flex items-baseline justify-between gap-2">
                  <span className="truncate font-medium">
                    {name(each.initiator_id)} · {name(each.partner_id)}
                  </span>
                  <span className="shrink-0 text-xs text-faint">
                    <Ago at={each.last_turn_at} />
                  </span>
                </span>
                <span className="flex items-center gap-2">
                  <span className="min-w-0 flex-1 truncate text-[13px] text-soft">{each.purpose}</span>
                  {RUNNING.has(each.state) && <Badge tone="violet">{t(`conversationState.${each.state}`)}</Badge>}
                </span>
              </span>
            </Row>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface StartProps {
  open: boolean;
  close: () => void;
  projectId: string;
  me: string;
  choose: (agent: string) => void;
}

function StartDialog({ open, close, projectId, me, choose }: StartProps) {
  const { t } = useTranslation("chat");
  const found = useQuery({ ...members(projectId), enabled: open });
  const others = (found.data ?? []).filter((each: Agent) => each.agent_id !== me && each.status === "active");
  return (
    <Dialog open={open} onClose={close} title={t("startWith")}>
      {found.isPending && <Loading rows={3} />}
      {found.isError && <Failed error={found.error} />}
      {found.isSuccess && others.length === 0 && <p className="text-soft">{t("nobody")}</p>}
      <ul className="-mx-3">
        {others.map((each) => (
          <li key={each.agent_id}>
            <button
              type="button"
              className="flex min-h-12 w-full items-center gap-3 rounded-md px-3 py-2 text-left hover:bg-sunken"
              onClick={() => {
                close();
                choose(each.agent_id);
              }}
            >
              <Avatar id={each.agent_id} name={each.name} size={30} />
              <span className="min-w-0 flex-1 truncate font-medium">{each.name}</span>
              <span className="text-xs text-faint">{t(`role.${each.role}`)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
