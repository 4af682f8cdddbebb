// The program of an agent: cards of what the machines can start, and of what they lack.
import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";

import { serverStatus } from "@/api/queries";
import type { TFunction } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";

import { OWN, programsOf, type Program } from "./programs";

interface ProgramsProps {
  value: string;
  onChange: (provider: string) => void;
}

export function Programs({ value, onChange }: ProgramsProps) {
  const { t } = useTranslation("settings");
  const machines = useQuery(serverStatus).data?.coordinators ?? [];
  const all = programsOf(machines);
  return (
    <fieldset>
      <legend className="mb-1 text-[13px] font-medium">{t("program.title")}</legend>
      {machines.length === 0 && <p className="mb-2 text-xs text-amber">{t("program.noMachine")}</p>}
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {[...all, { name: OWN, on: [], away: [] }].map((each) => (
          <Card key={each.name} each={each} chosen={each.name === value} onChoose={() => onChange(each.name)} />
        ))}
      </div>
    </fieldset>
  );
}

function Card({ each, chosen, onChoose }: { each: Program; chosen: boolean; onChoose: () => void }) {
  const { t } = useTranslation("settings");
  const there = each.on.length > 0 || each.name === OWN;
  const where =
    each.name === OWN
      ? t("program.ownHelp")
      : each.on.length > 0
        ? t("program.on", { names: each.on.join(", ") })
        : each.away.length > 0
          ? t("program.away", { names: each.away.join(", ") })
          : t("program.missing");
  return (
    <label
      className={`relative flex cursor-pointer flex-col gap-0.5 rounded-lg border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent ${chosen ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-sunken"}`}
    >
      <input type="radio" name="program" className="sr-only" checked={chosen} onChange={onChoose} />
      <span className={`truncate pr-5 font-medium ${there ? "" : "text-soft"}`}>{titleOf(each.name, t)}</span>
      <span className={`truncate text-xs ${there ? "text-soft" : "text-amber"}`} title={where}>
        {where}
      </span>
      {chosen && <Check size={15} className="absolute top-2.5 right-2.5 text-accent" aria-hidden />}
    </label>
  );
}

function titleOf(name: string, t: TFunction): string {
  return t(`program.names.${name || "own"}`, { defaultValue: name });
}
