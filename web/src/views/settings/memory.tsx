// What a team knows about a project: its memories, and a search over them, reports, handoffs and conversations.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Brain, Pin, PinOff, Pencil, Plus, Trash2 } from "lucide-react";
import { useDeferredValue, useState } from "react";

import { api } from "@/api/client";
import { knowledge, memories } from "@/api/memories";
import type { FoundText, Memory } from "@/api/model";
import { projects } from "@/api/queries";
import { inProject, ofMemory } from "@/api/routes";
import { useOpenTask } from "@/app/going";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { navigate, useSearch } from "@/app/routing";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import {
  Ago,
  Badge,
  Button,
  Checkbox,
  Confirm,
  Dialog,
  Empty,
  Failed,
  Form,
  Loading,
  Panel,
  SelectField,
  TextArea,
  TextField,
  useToast,
} from "@/ui";
import { Head } from "@/views/settings/parts";

export function MemoryTab() {
  const { t } = useTranslation("settings");
  const all = (useQuery(projects).data ?? []).filter((each) => each.status !== "archived");
  const { q } = useSearch();
  const writes = useWrites();
  const [making, setMaking] = useState(false);
  const [words, setWords] = useState("");
  const wanted = useDeferredValue(words.trim());
  const chosen = all.find((each) => each.project_id === q) ?? all[0];
  return (
    <>
      <Head title={t("tabs.memory")} help={t("memory.help")}>
        {writes && (
          <Button look="primary" disabled={chosen === undefined} onClick={() => setMaking(true)}>
            <Plus size={15} aria-hidden />
            {t("memory.new")}
          </Button>
        )}
      </Head>
      <div className="grid gap-3 sm:grid-cols-2">
        {all.length > 1 && (
          <SelectField
            label={t("memory.project")}
            value={chosen?.project_id ?? ""}
            onChange={(id) => void navigate({ to: "/settings", search: { tab: "memory", q: id } })}
            choices={all.map((each) => ({ value: each.project_id, label: each.name }))}
          />
        )}
        <TextField label={t("memory.search")} type="search" value={words} onChange={setWords} maxLength={1000} />
      </div>
      {chosen !== undefined && wanted === "" && <Memories projectId={chosen.project_id} />}
      {chosen !== undefined && wanted !== "" && <Found projectId={chosen.project_id} words={wanted} />}
      {chosen !== undefined && making && (
        <MemoryForm projectId={chosen.project_id} memory={null} close={() => setMaking(false)} />
      )}
    </>
  );
}

function Memories({ projectId }: { projectId: string }) {
  const { t } = useTranslation("settings");
  const found = useQuery(memories(projectId));
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <Panel>
      {found.data.length === 0 && (
        <Empty icon={<Brain size={24} aria-hidden />} title={t("memory.none")}>
          {t("memory.noneHelp")}
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {found.data.map((each) => (
          <Row key={each.memory_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ each }: { each: Memory }) {
  const { t } = useTranslation("settings");
  const writes = useWrites();
  return (
    <li className="space-y-2 px-4 py-3">
      <p className="break-words whitespace-pre-wrap">{each.text}</p>
      <div className="flex flex-wrap items-center gap-2 text-[13px] text-soft">
        <From by={each.author_id} at={each.created_at} taskId={each.task_id} />
        {each.pinned && (
          <Badge tone="blue">
            <Pin size={12} aria-hidden />
            {t("memory.pinned")}
          </Badge>
        )}
      </div>
      {writes && <Acts each={each} />}
    </li>
  );
}

/** Who wrote it, when, and in which task. */
function From({ by, at, taskId }: { by: string | null; at: string; taskId: string | null }) {
  const { t } = useTranslation("settings");
  const openTask = useOpenTask();
  const names = useNames("");
  return (
    <span>
      {by !== null && `${names.agent(by)} · `}
      <Ago at={at} />
      {taskId !== null && (
        <>
          {" · "}
          <button type="button" className="underline" onClick={() => openTask(taskId)}>
            {t("memory.task")}
          </button>
        </>
      )}
    </span>
  );
}

function Acts({ each }: { each: Memory }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const path = ofMemory(each.memory_id);
  async function done(what: Promise<unknown>, told: string) {
    try {
      await what;
      toast.done(told);
      await client.invalidateQueries({ queryKey: ["memories"] });
    } catch (error) {
      toast.failed(error);
    }
  }
  const Icon = each.pinned ? PinOff : Pin;
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        small
        onClick={() =>
          void done(
            api.patch("/memories/{memory_id}", { ...path, body: { pinned: !each.pinned } }),
            t(each.pinned ? "memory.unpinnedDone" : "memory.pinnedDone"),
          )
        }
      >
        <Icon size={14} aria-hidden />
        {t(each.pinned ? "memory.unpin" : "memory.pin")}
      </Button>
      <Button small onClick={() => setEditing(true)}>
        <Pencil size={14} aria-hidden />
        {t("memory.edit")}
      </Button>
      <Button small look="danger" onClick={() => setDeleting(true)}>
        <Trash2 size={14} aria-hidden />
        {t("memory.delete")}
      </Button>
      <Confirm
        open={deleting}
        title={t("memory.deleteTitle")}
        action={t("memory.delete")}
        onClose={() => setDeleting(false)}
        onConfirm={() => done(api.delete("/memories/{memory_id}", path), t("memory.deleted"))}
      >
        {each.text}
      </Confirm>
      {editing && <MemoryForm projectId={each.project_id} memory={each} close={() => setEditing(false)} />}
    </div>
  );
}

function Found({ projectId, words }: { projectId: string; words: string }) {
  const { t } = useTranslation("settings");
  const found = useQuery({ ...knowledge(projectId, words), placeholderData: keepPreviousData });
  const known = useQuery(memories(projectId)).data ?? [];
  if (found.isPending) return <Loading rows={2} />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <Panel>
      {found.data.length === 0 && <Empty icon={<Brain size={24} aria-hidden />} title={t("memory.nothing")} />}
      <ul className="divide-y divide-line">
        {found.data.map((each) => (
          <Text key={each.id} each={each} memory={known.find((one) => one.memory_id === each.id)} />
        ))}
      </ul>
    </Panel>
  );
}

/** What was found; a memory can be corrected here, too. */
function Text({ each, memory }: { each: FoundText; memory: Memory | undefined }) {
  const { t } = useTranslation("settings");
  const writes = useWrites();
  return (
    <li className="space-y-1 px-4 py-3">
      {each.title !== null && <p className="font-medium break-words">{each.title}</p>}
      <p className="break-words whitespace-pre-wrap">{each.text}</p>
      <div className="flex flex-wrap items-center gap-2 text-[13px] text-soft">
        <Badge>{t(`memory.kind.${each.kind}`)}</Badge>
        <From by={each.by} at={each.at} taskId={each.task_id} />
      </div>
      {writes && memory !== undefined && <Acts each={memory} />}
    </li>
  );
}

interface MemoryFormProps {
  projectId: string;
  /** Null: it is added. */
  memory: Memory | null;
  close: () => void;
}

function MemoryForm({ projectId, memory, close }: MemoryFormProps) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const place = memory === null ? `new-memory.${projectId}` : `memory.${memory.memory_id}`;
  const [said, , draft] = useDraft(place, { text: memory?.text ?? "", pinned: memory?.pinned ?? false });
  const [error, setError] = useState<unknown>(null);
  async function save() {
    setError(null);
    try {
      if (memory === null) await api.post("/projects/{project_id}/memories", { ...inProject(projectId), body: said });
      else await api.patch("/memories/{memory_id}", { ...ofMemory(memory.memory_id), body: said });
      await client.invalidateQueries({ queryKey: ["memories"] });
      toast.done(t("memory.saved"));
      draft.done();
      close();
    } catch (refused) {
      setError(refused);
    }
  }
  return (
    <Dialog open onClose={close} title={t(memory === null ? "memory.new" : "memory.edit")}>
      <Form className="space-y-4" onSend={() => void save()}>
        <DraftLine draft={draft} />
        <TextArea
          label={t("memory.text")}
          help={t("memory.textHelp")}
          value={said.text}
          onChange={draft.field("text")}
          maxLength={2000}
          rows={5}
          required
        />
        <Checkbox label={t("memory.pinIt")} checked={said.pinned} onChange={draft.field("pinned")} />
        {error !== null && <Failed error={error} />}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={said.text.trim() === ""}>
            {t("app.save")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
