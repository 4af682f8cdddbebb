// Before there is anything: what Toryo is, and the one button that shows it; then the first task.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { api } from "@/api/client";
import type { Project } from "@/api/model";
import { demo } from "@/api/queries";
import { useOwns } from "@/app/may";
import { newTask } from "@/app/overlays";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, Copyable, Empty, Failed, Kbd, Panel } from "@/ui";

export function Welcome() {
  const { t } = useTranslation("home");
  const owns = useOwns();
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
          {owns && (
            <Link
              to="/settings"
              search={{ tab: "projects", q: "new" }}
              className="inline-flex h-9 items-center rounded-md border border-line-strong bg-panel px-3 text-sm font-medium hover:bg-sunken"
            >
              {t("ownStart")}
            </Link>
          )}
          <OwnCommand />
        </Way>
      </div>
    </div>
  );
}

/** For who has the server's machine at hand: the server runs already, so nothing is started. */
function OwnCommand() {
  const { t } = useTranslation("home");
  const data = useQuery(demo).data?.data_directory ?? "";
  if (data === "") return null;
  return (
    <>
      <p className="text-soft">{t("ownCommand")}</p>
      <Copyable text={`toryo init && toryo apply --data-dir ${quoted(data)}`} />
    </>
  );
}

/** As a word of the shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Owners have a button; everybody else is told how to see it on a server of their own. */
function DemoWay() {
  const { t } = useTranslation("home");
  const client = useQueryClient();
  const owns = useOwns();
  const start = useMutation({
    mutationFn: () => api.post("/demo"),
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
