// Before there is anything: what Toryo is, and the one button that shows it; then the first task.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { send } from "@/api/client";
import type { Demo, Project } from "@/api/model";
import { useOwns } from "@/app/may";
import { newTask } from "@/app/overlays";
import { Button, Copyable, Empty, Failed, Kbd, Panel } from "@/ui";

export function Welcome() {
  const { t } = useTranslation("home");
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-5 px-4 py-10 sm:py-16">
      <img src="/favicon.svg" alt="" width={44} height={44} />
      <div className="space-y-2">
        <h2 className="text-2xl font-semibold tracking-tight">{t("welcome")}</h2>
        <p className="text-[15px] text-soft">{t("welcomeMore")}</p>
      </div>
      <div className="divide-y divide-line rounded-xl border border-line bg-panel shadow-[var(--shadow)]">
        <DemoWay />
        <Way title={t("ownTitle")} more={t("ownMore")}>
          <Copyable text="toryo init && toryo up" />
        </Way>
      </div>
    </div>
  );
}

/** Owners have a button; everybody else is told how to see it on a server of their own. */
function DemoWay() {
  const { t } = useTranslation("home");
  const client = useQueryClient();
  const owns = useOwns();
  const start = useMutation({
    mutationFn: () => send<Demo>("POST", "/demo"),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <Way title={t("demoTitle")} more={t("demoMore")}>
      {owns ? (
        <Button look="primary" disabled={start.isPending || start.isSuccess} onClick={() => start.mutate()}>
          {t("demoStart")}
        </Button>
      ) : (
        <Copyable text="toryo demo --keep" />
      )}
      {start.isError && <Failed error={start.error} />}
    </Way>
  );
}

function Way({ title, more, children }: { title: string; more: string; children: ReactNode }) {
  return (
    <section className="space-y-2.5 p-5">
      <h3 className="font-medium">{title}</h3>
      <p className="text-soft">{more}</p>
      {children}
    </section>
  );
}

export function FirstTask({ project }: { project: Project }) {
  const { t } = useTranslation("home");
  return (
    <Panel>
      <Empty title={t("firstTask")}>
        <p className="mb-3">{t("firstTaskMore", { name: project.name })}</p>
        <Button look="primary" onClick={() => newTask({ projectId: project.project_id })}>
          {t("newTask.title")} <Kbd>n</Kbd>
        </Button>
      </Empty>
    </Panel>
  );
}
