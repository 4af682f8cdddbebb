// The head of a task: its title (edited where it stands), where it is, and what can be done with it.
import { Ellipsis } from "lucide-react";
import { useState } from "react";

import { isFinal, type Task } from "@/api/model";
import { useKeys, type Key } from "@/app/keys";
import { useWrites } from "@/app/may";
import { BY_KEY, TASK_ACTS, actNamed, mainMove, offers, verb, type ActName, type TaskAct } from "@/app/task-acts";
import { useActing, type Acting } from "@/app/acting";
import { RequestCard, isRequest } from "@/app/request-card";
import { PullRequestLink } from "@/app/pull-request";
import { SentBack } from "@/app/sent-back";
import { useTranslation } from "@/i18n/use-words";
import { AskWords, Button, IconButton, Menu, MenuItem } from "@/ui";
import { Pickers, type Fact } from "@/views/task/pickers";
import type { Place } from "@/views/task/place";
import { TaskQuestions } from "@/views/task/questions";
import { EditableText } from "@/views/task/editable";

export function Head({ task, place = "page" }: { task: Task; place?: Place }) {
  const acting = useActing(task);
  const writes = useWrites();
  const [picking, pick] = useState<Fact | null>(null);
  useActKeys(task, acting, place, pick);
  return (
    <div className="shrink-0 space-y-3">
      <EditableText task={task} field="title" />
      <div className="flex flex-wrap items-center gap-2">
        <Pickers task={task} acting={acting} open={picking} onOpen={pick} />
        {task.changes_requested !== null && <SentBack changes={task.changes_requested} />}
        {task.pull_request !== null && <PullRequestLink of={task.pull_request} />}
        <span className="flex-1" />
        {writes && <Acts task={task} acting={acting} />}
      </div>
      {isRequest(task) && <RequestCard task={task} untitled />}
      {task.status === "in_progress" && <TaskQuestions task={task} />}
      <Asking task={task} acting={acting} />
    </div>
  );
}

/** What can be done with it: the move that comes next, a word to the agent, and all the rest. A request has its answers
 * below. */
function Acts({ task, acting }: { task: Task; acting: Acting }) {
  const main = mainMove(task, acting.verdict.moves);
  const next = task.approval !== "pending_approval" && main !== undefined ? [verb(task.status, main.status)] : [];
  const first: ActName[] = [...next, ...(isFinal(task) ? [] : (["steer"] as const))];
  return (
    <>
      {first.map((name, place) => (
        <ActButton key={name} name={name} primary={place === 0 && name !== "steer"} acting={acting} />
      ))}
      <More task={task} acting={acting} />
    </>
  );
}

function ActButton({ name, primary, acting }: { name: ActName; primary: boolean; acting: Acting }) {
  const { t } = useTranslation();
  const { icon: Icon } = actNamed(name);
  return (
    <Button small look={primary ? "primary" : "plain"} disabled={acting.busy} onClick={() => acting.act(name)}>
      <Icon size={14} aria-hidden />
      {t(`act.${name}`)}
    </Button>
  );
}

/** These stand elsewhere in an open task: beside its title, in its facts, on its tabs. */
const ELSEWHERE: readonly ActName[] = ["approve", "reject", "steer", "assign", "priority", "review", "merge", "diff"];

/** What is left. Moves are chosen at the status. */
function More({ task, acting }: { task: Task; acting: Acting }) {
  const { t } = useTranslation();
  const rest = TASK_ACTS.filter(
    (each) => each.move === undefined && !ELSEWHERE.includes(each.name) && offers(each, task, acting.verdict, true),
  );
  return (
    <Menu
      trigger={
        <IconButton label={t("act.more")}>
          <Ellipsis size={16} />
        </IconButton>
      }
    >
      {rest.map(({ name, icon: Icon }) => (
        <MenuItem key={name} onSelect={() => acting.act(name)}>
          <Icon size={15} aria-hidden />
          {t(`act.${name}`)}
        </MenuItem>
      ))}
    </Menu>
  );
}

function Asking({ task, acting: { asking, said, close } }: { task: Task; acting: Acting }) {
  const { t } = useTranslation();
  if (asking === null) return null;
  const action = t(`act.${asking.name}`);
  return (
    <AskWords
      title={`${action}: ${task.title}`}
      label={t(asking.name === "steer" ? "asks.steer" : "asks.reason")}
      action={action}
      required={asking.required}
      danger={actNamed(asking.name).danger ?? false}
      onSaid={said}
      onClose={close}
    />
  );
}

/** The keys of an open task, as its acts declare them; those of facts open their pickers. */
function useActKeys(task: Task, acting: Acting, place: Place, pick: (fact: Fact) => void): void {
  const { t } = useTranslation();
  const writes = useWrites();
  const where = place === "over" ? { inside: true } : { first: true };
  const press = (acts: readonly TaskAct[]) => () => {
    const meant = acts.find((each) => offers(each, task, acting.verdict, writes));
    if (meant === undefined) return;
    if (meant.name === "assign" || meant.name === "priority") pick(meant.name);
    else acting.act(meant.name);
  };
  const keys: Key[] = [...BY_KEY].map(([key, acts]) => ({
    key,
    words: acts.map((each) => t(`act.${each.name}`)).join(" / "),
    run: press(acts),
    ...where,
  }));
  const status: Key = { key: "s", words: t("act.move"), run: () => pick("status"), ...where };
  useKeys(writes ? [...keys, status] : []);
}
