// What was said about a task: what people have told its agent, what was written about it in my chat with that agent, and
// the conversations that agents had over it.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";

import type { Task } from "@/api/model";
import { history } from "@/api/queries";
import { taskMessages } from "@/api/whole-lists";
import { useNames } from "@/app/names";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Avatar, Empty, Loading, Prose } from "@/ui";

interface Said {
  id: string;
  who: string;
  at: string;
  text: string;
}

export function Messages({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const names = useNames(task.project_id);
  const { pending, said } = useSaid(task);
  if (pending) return <Loading />;
  return (
    <div className="space-y-4">
      {said.length === 0 && <Empty icon={<MessagesSquare size={24} aria-hidden />} title={t("messages.none")} />}
      <ul className="space-y-4">
        {said.map((each) => (
          <li key={each.id} className="flex gap-3">
            <Avatar id={each.who} name={names.agent(each.who)} size={26} />
            <div className="min-w-0 flex-1">
              <p className="text-[13px]">
                <span className="font-medium">{names.agent(each.who)}</span>{" "}
                <span className="text-xs text-faint">
                  <Ago at={each.at} />
                </span>
              </p>
              <Prose text={each.text} />
            </div>
          </li>
        ))}
      </ul>
      {task.assignee_id !== null && (
        <Link
          to="/p/$projectId/chat"
          params={{ projectId: task.project_id }}
          search={{ agent: task.assignee_id }}
          className="inline-block text-[13px] link"
        >
          {t("messages.open", { who: names.agent(task.assignee_id) })}
        </Link>
      )}
    </div>
  );
}

function useSaid(task: Task): { pending: boolean; said: Said[] } {
  const steered = useInfiniteQuery(history({ task_id: task.task_id, kind: "task.steered" }));
  const about = useQuery(taskMessages(task.task_id));
  const told = (steered.data?.pages ?? []).flatMap(({ events }) =>
    events.map(({ event_id: id, actor_id: who, at, data }) => ({ id, who, at, text: String(data.text ?? "") })),
  );
  const talked = (about.data ?? []).map((each) => ({
    id: each.message_id,
    who: each.from_agent_id,
    at: each.created_at,
    text: each.content,
  }));
  return {
    pending: steered.isPending || about.isPending,
    said: [...told, ...talked].toSorted((one, other) => (one.at < other.at ? -1 : 1)),
  };
}
