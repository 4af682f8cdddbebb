// A new task: one line says what, who and after which task; the rest is below it. Several lines are several tasks.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { ANYONE } from "@/ui";
import { PRIORITIES } from "@/api/filter";
import type { Project } from "@/api/model";
import { members } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { show, type NewTaskFor } from "@/app/overlays";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Failed, Form, More, SelectField, TextArea, useToast } from "@/ui";

import { EMPTY, type NewTaskDraft } from "./draft";
import { fitting } from "./fitting";
import { linesOf, parsed, without, written, type Mistake } from "./line";
import { LineField } from "./line-field";
import { Footer } from "./footer";
import type { Active } from "./suggesting";
import { Understood } from "./understood";
import { useFiling } from "./use-filing";
import { useKnown } from "./use-known";

interface FormProps {
  /** The project where one was. */
  begun: Project;
  projects: readonly Project[];
  wanted: NewTaskFor;
}

export function NewTaskForm({ begun, projects, wanted }: FormProps) {
  const { t } = useTranslation();
  const toast = useToast();
  const open = useOpenTask();
  const place = ["new-task", begun.project_id, wanted.parentId].filter(Boolean).join(".");
  const [draft, write, kept] = useDraft<NewTaskDraft>(place, EMPTY);
  const project = projects.find((each) => each.project_id === draft.projectId) ?? begun;
  const team = (useQuery(members(project.project_id)).data ?? []).filter((each) => each.status === "active");
  const [more, setMore] = useState(false);
  const [active, setActive] = useState<Active | null>(null);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  const file = useFiling(project.project_id);
  const change = (part: Partial<NewTaskDraft>) => write((known) => ({ ...known, ...part }));

  const lines = linesOf(draft.text);
  const known = useKnown(project.project_id, lines, active);
  const read = lines.map((each) => parsed(each, known));
  const shown = read.map((each) => ({
    ...each,
    mistakes: each.mistakes.filter((one) => tried || !isTyped(one, active)),
  }));
  const [only] = read.length === 1 ? read : [];
  const chosen = only?.chips.find((each) => each.kind === "who")?.id;
  const said = only?.chips.find((each) => each.kind === "rank")?.id;
  const rank = PRIORITIES.find((each) => each === said);
  const who = draft.who === "auto" ? (fitting(team)?.agent_id ?? "") : draft.who;
  const ready = !busy && lines.length > 0 && read.every((each) => each.title !== "");
  const startable = ready && read.every(({ chips }) => who !== "" || chips.some((each) => each.kind === "who"));

  async function submit(start: boolean) {
    if (!ready || (start && !startable)) return;
    setTried(true);
    if (read.some((each) => each.mistakes.length > 0)) return;
    setBusy(true);
    setRefused(null);
    const { description, priority, status } = draft;
    const rest = { description, priority, assignee_id: who || null, parent_task_id: wanted.parentId ?? null };
    const filed = await file(read, { ...rest, status: start ? "in_progress" : status });
    setBusy(false);
    setTried(false);
    if (filed.notStarted !== null) toast.failed(filed.notStarted);
    if (filed.tasks.length > 0) tell(filed.tasks);
    if (filed.refused !== null) {
      change({ text: lines.slice(filed.lines).join("\n") });
      return setRefused(filed.refused);
    }
    if (more) return change({ text: "", description: "" });
    kept.done();
    show(null);
    const [first] = filed.tasks;
    if (first !== undefined && filed.tasks.length === 1) open(first.task_id);
  }
  function tell(tasks: readonly { title: string }[]) {
    const [first] = tasks;
    const one = tasks.length === 1 && first !== undefined;
    toast.done(one ? t("newTask.filed", { title: first.title }) : t("newTask.filedMany", { count: tasks.length }));
  }
  function replace(line: number, { kind, from, to, meant }: Mistake) {
    const next = lines.map((each, row) =>
      row === line && meant !== null ? each.slice(0, from) + written(kind, meant) + each.slice(to) : each,
    );
    change({ text: next.join("\n") });
  }

  return (
    <Form onSend={() => void submit(false)} onSendMore={() => void submit(true)} className="space-y-4">
      <DraftLine draft={kept} />
      <LineField
        text={draft.text}
        onText={(text) => change({ text })}
        known={known}
        active={active}
        onActive={setActive}
        onEnter={() => void submit(false)}
        wrong={shown.some((each) => each.mistakes.length > 0)}
      />
      <Understood lines={shown} known={known} onMeant={replace} />
      <TextArea
        label={lines.length > 1 ? t("newTask.exactlyAll", { count: lines.length }) : t("newTask.exactly")}
        help={t("newTask.exactlyHow")}
        value={draft.description}
        rows={4}
        onChange={(description) => change({ description })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t("newTask.who")}
          value={chosen ?? who}
          onChange={(next) => change({ who: next, ...(only && { text: without(draft.text, "who") }) })}
          choices={[
            { value: "", label: t("app.nobody") },
            { value: ANYONE, label: t("app.anyone") },
            ...team.map((each) => ({ value: each.agent_id, label: each.name })),
          ]}
        />
        <SelectField
          label={t("newTask.project")}
          value={project.project_id}
          onChange={(projectId) => change({ projectId, who: "auto" })}
          disabled={wanted.parentId !== undefined}
          choices={projects.map((each) => ({ value: each.project_id, label: each.name }))}
        />
      </div>
      <More open={draft.status !== "todo" || draft.priority !== "medium"}>
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={t("newTask.urgent")}
            value={rank ?? draft.priority}
            onChange={(priority) =>
              change({
                priority,
                ...(only && { text: without(draft.text, "rank") }),
              })
            }
            choices={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
          />
          <SelectField
            label={t("newTask.begin")}
            value={draft.status}
            onChange={(status) => change({ status })}
            choices={(["todo", "backlog"] as const).map((value) => ({ value, label: t(`status.${value}`) }))}
          />
        </div>
      </More>
      {refused !== null && <Failed error={refused} />}
      <Footer
        more={more}
        onMore={setMore}
        count={lines.length}
        ready={ready}
        startable={startable}
        onStart={() => void submit(true)}
      />
    </Form>
  );
}

/** Nobody is told of a mistake in a word that is not finished. */
function isTyped(mistake: Mistake, active: Active | null): boolean {
  return active !== null && active.kind === mistake.kind && active.said === mistake.said;
}
