// When the open tasks of the project will be done, and what they will cost, as ranges: the server simulates them when
// somebody asks.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { forecast, startForecast, underWay } from "@/api/forecasts";
import type { Forecast as Found, ForecastRange } from "@/api/model";
import { quotas } from "@/api/queries";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import {
  Ago,
  Button,
  Failed,
  Panel,
  SelectField,
  accountName,
  compact,
  duration,
  money,
  timeOfDay,
  useTrying,
  visible,
} from "@/ui";

const PROCESSES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 100];
const USUAL = 3;
const HOUR_MS = 3_600_000;
/** Tasks that are named with why they were not completed. */
const MOST_UNFINISHED = 5;

export function Forecast({ projectId }: { projectId: string }) {
  const { t } = useTranslation("usage");
  const client = useQueryClient();
  const known = useQuery(forecast(projectId));
  const [chosen, choose] = useState<number | null>(null);
  const trying = useTrying(() => undefined);
  const answer = known.data;
  if (answer === undefined)
    return known.isError ? (
      <Panel title={t("forecast.title")}>
        <Failed error={known.error} />
      </Panel>
    ) : null;
  const under = underWay(answer.state);
  const processes = chosen ?? answer.max_concurrent ?? USUAL;
  const choices = [...new Set([...PROCESSES, processes])].sort((a, b) => a - b);

  async function compute() {
    const begun = await startForecast(projectId, processes, answer?.state === "done");
    client.setQueryData(forecast(projectId).queryKey, begun);
  }

  return (
    <Panel title={t("forecast.title")}>
      <div className="space-y-3 px-4 py-3">
        {answer.forecast === null ? (
          <p className="text-soft">{t("forecast.help")}</p>
        ) : (
          <Figures found={answer.forecast} />
        )}
        <div className="flex flex-wrap items-end gap-3">
          <div className="w-40">
            <SelectField
              label={t("forecast.processes")}
              value={String(processes)}
              onChange={(value) => choose(Number(value))}
              choices={choices.map((each) => ({ value: String(each), label: String(each) }))}
            />
          </div>
          <Button disabled={under || trying.busy} onClick={() => void trying.attempt(compute)}>
            {answer.forecast === null ? t("forecast.compute") : t("forecast.again")}
          </Button>
          <p role="status" className="min-w-0 text-[13px] text-soft">
            {under && t(`forecast.${answer.state === "waiting" ? "waiting" : "running"}`)}
          </p>
        </div>
        {answer.state === "failed" && (
          <p role="alert" className="text-[13px] break-words text-red">
            {t("forecast.failed")} {visible(answer.reason ?? "")}
          </p>
        )}
        {trying.refused !== null && <Failed error={trying.refused} />}
      </div>
    </Panel>
  );
}

function Figures({ found }: { found: Found }) {
  const { t, i18n } = useTranslation("usage");
  const known = useQuery(quotas).data;
  const named = (account: string) =>
    accountName(known?.find((each) => each.account === account) ?? { account, providers: [] });
  const { hours, dollars, tokens } = found;
  if (hours === null || dollars === null || tokens === null)
    return (
      <p>
        {t("forecast.nothing")} <Computed at={found.computed_at} />
      </p>
    );
  const at = (hours: number) =>
    timeOfDay(new Date(Date.parse(found.computed_at) + hours * HOUR_MS).toISOString(), i18n.language);
  const takes = (hours: number) => duration(Math.round(hours * 60) * 60_000, i18n.language);
  const range = (of: ForecastRange, say: (value: number) => string) =>
    t("forecast.range", { low: say(of.low), high: say(of.high) });
  return (
    <>
      {found.runs_completed === 0 && <p className="text-[13px] text-amber">{t("forecast.neverDone")}</p>}
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
        <Figure name={t("forecast.done")} more={t("forecast.median", { at: at(hours.middle) })}>
          {range(hours, at)}
        </Figure>
        <Figure name={t("forecast.takes")}>{range(hours, takes)}</Figure>
        <Figure name={t("cost")}>{dollars.high === 0 && tokens.high > 0 ? t("noPrice") : range(dollars, money)}</Figure>
        <Figure name={t("tokens")}>{range(tokens, (each) => compact(each, i18n.language))}</Figure>
      </dl>
      <p className="text-[13px] text-soft">
        {t("forecast.covers", { count: found.open_tasks })}{" "}
        {t("forecast.runs", { runs: found.runs, processes: found.max_concurrent })} <Computed at={found.computed_at} />
      </p>
      <History found={found} />
      {found.accounts.map((each) => (
        <p key={`${each.account} ${each.window}`} className="text-[13px] break-words text-amber">
          {t("forecast.dry", { account: named(each.account), length: t(`quota.length.${each.window}`) })}{" "}
          <Ago at={each.runs_dry_at} />
        </p>
      ))}
      <Unfinished found={found} />
    </>
  );
}

function Figure({ name, more, children }: { name: string; more?: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-soft">{name}</dt>
      <dd className="font-medium tabular-nums">{children}</dd>
      {more !== undefined && <dd className="text-[13px] text-faint tabular-nums">{more}</dd>}
    </div>
  );
}

function Computed({ at }: { at: string }) {
  const { t } = useTranslation("usage");
  return (
    <span className="text-faint">
      {t("forecast.computed")} <Ago at={at} />
    </span>
  );
}

/** Whose times are assumed, because nothing was recorded. */
function History({ found }: { found: Found }) {
  const { t } = useTranslation("usage");
  const names = useNames("");
  const all = Object.entries(found.agents);
  const unknown = all.filter(([, each]) => each.learnt_from === 0).map(([id]) => id);
  if (unknown.length === 0) return null;
  const minutes = found.assumed_minutes;
  return (
    <p className="text-[13px] break-words text-amber">
      {unknown.length === all.length
        ? t("forecast.noHistory", { minutes })
        : t("forecast.noHistoryOf", { minutes, names: unknown.map((id) => visible(names.agent(id))).join(", ") })}
    </p>
  );
}

function Unfinished({ found }: { found: Found }) {
  const { t } = useTranslation("usage");
  if (found.unfinished.length === 0) return null;
  const short = found.runs - found.runs_completed;
  return (
    <div className="text-[13px]">
      <p>{t("forecast.unfinished", { short, runs: found.runs })}</p>
      <ul className="list-disc pl-5 text-soft">
        {found.unfinished.slice(0, MOST_UNFINISHED).map((each) => (
          <li key={`${each.title} ${each.status} ${each.reason}`} className="break-words">
            {t("forecast.why", { title: visible(each.title), count: each.runs, reason: visible(each.reason) })}
          </li>
        ))}
      </ul>
    </div>
  );
}
