// What is off in a project, one line each: what, since when, until when, and the buttons that help.
import { useQueryClient } from "@tanstack/react-query";
import { Archive, CirclePause, Coins, PiggyBank, PlugZap, ServerOff, UserPlus, type LucideIcon } from "lucide-react";
import { useState } from "react";

import type { Condition } from "@/api/model";
import { moveProject } from "@/api/projects";
import { useMay, type Deed } from "@/app/may";
import { navigate } from "@/app/routing";
import { addressOf } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Button, Countdown, Told, useToast } from "@/ui";

const ICONS: Record<Condition["kind"], LucideIcon> = {
  archived: Archive,
  paused: CirclePause,
  no_team: UserPlus,
  coordinator_gone: ServerOff,
  program_missing: PlugZap,
  budget_used_up: Coins,
  quota_used_up: Coins,
  quota_kept: PiggyBank,
};

type Go = { to: string; search: Record<string, string> };
const settings = (search: Record<string, string>): Go => ({ to: "/settings", search });

/** What each button does: a request that lets the project go on, or a way to where one can. */
const ACTS: Record<string, [needs: Deed | null, "resume" | ((condition: Condition) => Go)]> = {
  resume_project: ["write", "resume"],
  restore: ["write", "resume"],
  add_agent: ["own", () => settings({ tab: "agents", q: "new" })],
  change_program: ["own", ({ agent_id }) => settings({ tab: "agents", agent: agent_id ?? "" })],
  correct: ["own", ({ agent_id }) => settings({ tab: "agents", agent: agent_id ?? "" })],
  machines: [null, () => settings({ tab: "machines" })],
  raise: ["own", ({ project_id }) => settings({ tab: "projects", q: project_id })],
  edit_quota: [
    "own",
    ({ project_id, account }) => ({ to: addressOf(project_id, "usage"), search: { q: account ?? "" } }),
  ],
  usage: [null, ({ project_id }) => ({ to: addressOf(project_id, "usage"), search: {} })],
};

export function Lines({ found }: { found: Condition[] }) {
  const { t } = useTranslation();
  return (
    <section aria-label={t("condition.label")} className="shrink-0 border-b border-line bg-amber-soft">
      <ul className="divide-y divide-line">
        {found.map((each) => (
          <Line key={`${each.kind} ${each.text}`} condition={each} />
        ))}
      </ul>
    </section>
  );
}

function Line({ condition }: { condition: Condition }) {
  const { t } = useTranslation();
  const may = useMay();
  const client = useQueryClient();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const Icon = ICONS[condition.kind];
  const offered = condition.actions.filter(({ name }) => {
    const needs = ACTS[name]?.[0];
    return needs !== undefined && (needs === null || may(needs));
  });

  function act(name: string) {
    const how = ACTS[name]?.[1];
    if (how === undefined) return;
    if (how !== "resume") return void navigate(how(condition));
    setBusy(true);
    void moveProject(condition.project_id, "resume")
      .then(() => toast.done(t("condition.resumed")))
      .catch(toast.failed)
      .finally(() => {
        for (const key of ["projects", "overview"]) void client.invalidateQueries({ queryKey: [key] });
        setBusy(false);
      });
  }

  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-[13px]">
      <Icon size={15} className="shrink-0 text-amber" aria-hidden />
      <p className="min-w-48 flex-1">
        <Told text={condition.text} />{" "}
        <span className="text-soft">
          {condition.since !== null && <Ago at={condition.since} />}
          {condition.until !== null && <Countdown until={condition.until} />}
        </span>
      </p>
      {offered.length > 0 && (
        <span className="flex gap-2">
          {offered.map(({ name, label }, place) => (
            <Button key={name} small look={place === 0 ? "plain" : "quiet"} disabled={busy} onClick={() => act(name)}>
              {label}
            </Button>
          ))}
        </span>
      )}
    </li>
  );
}
