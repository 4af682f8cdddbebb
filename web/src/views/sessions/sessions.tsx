// Who is signed in: the agents of this project, and my own browsers. Each can be ended.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, ShieldAlert, ShieldCheck, ShieldQuestion } from "lucide-react";
import { useState, type ReactNode } from "react";

import { endSession } from "@/api/agents";
import type { Session } from "@/api/model";
import { sessions } from "@/api/queries";
import { useWrites } from "@/app/may";
import { useNames } from "@/app/names";
import { Link, useParams } from "@/app/routing";
import { inWords } from "@/app/sentence";
import { useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import {
  Ago,
  Avatar,
  Badge,
  Bar,
  Button,
  Confirm,
  Countdown,
  Empty,
  Failed,
  Loading,
  Panel,
  TextField,
  useToast,
} from "@/ui";
import { Browsers } from "@/views/sessions/browsers";

export function Sessions() {
  const { t } = useTranslation("sessions");
  const { projectId = "" } = useParams();
  const found = useQuery(sessions(projectId));
  return (
    <div className="mx-auto max-w-5xl space-y-5 p-4 md:p-6">
      <Bar title={t("title")} />
      <Panel title={t("agents")}>
        {found.isPending && <Loading rows={3} />}
        {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
        {found.data?.length === 0 && (
          <Empty icon={<KeyRound size={24} aria-hidden />} title={t("none")}>
            {t("noneHelp")}
          </Empty>
        )}
        <ul>
          {found.data?.map((each) => (
            <Row key={each.session_id} session={each} projectId={projectId} />
          ))}
        </ul>
      </Panel>
      <Browsers />
    </div>
  );
}

function Row({ session, projectId }: { session: Session; projectId: string }) {
  const { t } = useTranslation("sessions");
  const { t: audit } = useTranslation("audit");
  const names = useNames(projectId);
  const name = names.agent(session.agent_id);
  const writes = useWrites();
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-0">
      <Avatar id={session.agent_id} name={name} size={32} />
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {name}
          <Badge tone={session.purpose === "chat" ? "violet" : "blue"}>{t(`purpose.${session.purpose}`)}</Badge>
          {session.runaway !== null && (
            <Badge tone="red">{t("runaway", { guard: inWords(session.runaway, audit) })}</Badge>
          )}
          {!session.confirmed && (
            <Badge tone="amber">
              {t("unconfirmed")} <Ago at={session.last_seen_at} />
            </Badge>
          )}
        </p>
        {session.task_id !== null && (
          <Link
            to="/t/$taskId"
            params={{ taskId: session.task_id }}
            className="block truncate text-soft hover:text-ink hover:underline"
          >
            {names.task(session.task_id)}
          </Link>
        )}
        <ModelMark session={session} />
      </div>
      <dl className="grid grid-cols-3 gap-x-5 text-[13px]">
        <Fact name={t("since")}>
          <Ago at={session.created_at} />
        </Fact>
        <Fact name={t("lastCall")}>
          <Ago at={session.last_call_at} />
        </Fact>
        <Fact name={t("lease")}>
          <Countdown until={session.expires_at} />
        </Fact>
      </dl>
      <div className="ml-auto flex items-center gap-2">
        <Link
          to="/p/$projectId/logs"
          params={{ projectId }}
          search={{ launch: session.launch_id }}
          className="px-1 text-[13px] link"
        >
          {t("log")}
        </Link>
        {writes && <End session={session} name={name} />}
      </div>
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="whitespace-nowrap">{children}</dd>
    </div>
  );
}

function ModelMark({ session }: { session: Session }) {
  const { t } = useTranslation("sessions");
  const [Icon, tone, words] =
    session.model_verified === null
      ? ([ShieldQuestion, "text-faint", t("model.unknown")] as const)
      : session.model_verified
        ? ([ShieldCheck, "text-green", t("model.verified")] as const)
        : ([ShieldAlert, "text-red", t("model.other")] as const);
  return (
    <p className="flex items-center gap-1.5 text-xs text-soft">
      <Icon size={14} className={tone} aria-hidden />
      {words}
      {session.model_id !== null && (
        <span className="truncate text-faint">
          {session.model_provider} · {session.model_id}
        </span>
      )}
    </p>
  );
}

function End({ session, name }: { session: Session; name: string }) {
  const { t } = useTranslation("sessions");
  const toast = useToast();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [reason, setReason, draft] = useDraft(`end.${session.session_id}`, "", { quiet: true });
  async function end() {
    await endSession(session.session_id, reason);
    draft.done();
    toast.done(t("ended", { name }));
    void client.invalidateQueries({ queryKey: ["sessions"] });
  }
  return (
    <>
      <Button small look="danger" onClick={() => setAsking(true)}>
        {t("end")}
      </Button>
      <Confirm open={asking} title={t("endTitle")} action={t("end")} onClose={() => setAsking(false)} onConfirm={end}>
        <p className="mb-3">{t("endText", { name })}</p>
        <TextField label={t("endReason")} value={reason} onChange={setReason} maxLength={1000} />
      </Confirm>
    </>
  );
}
