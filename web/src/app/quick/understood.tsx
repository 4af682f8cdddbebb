// What a line was understood as: a chip for each part, and in clear words what is not there.

import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";

import type { Chip, Known, Mistake, Parsed } from "./line";
import { Sign } from "./line-field";

interface UnderstoodProps {
  lines: readonly Parsed[];
  known: Known;
  onMeant: (line: number, mistake: Mistake) => void;
}

export function Understood({ lines, known, onMeant }: UnderstoodProps) {
  const { t } = useTranslation();
  const many = lines.length > 1;
  if (!many && lines.every(({ chips, mistakes }) => chips.length + mistakes.length === 0)) return null;
  return (
    <ol aria-label={t("newTask.understood")} className="space-y-1.5">
      {lines.map(({ title, chips, mistakes }, place) => (
        <li key={place} className="space-y-1">
          <div className="flex flex-wrap items-center gap-1.5">
            {many && <span className="min-w-0 truncate font-medium">{title || t("newTask.noTitle")}</span>}
            {chips.map((chip) => (
              <Understanding key={`${chip.kind} ${chip.id}`} chip={chip} known={known} />
            ))}
          </div>
          {mistakes.map((each) => (
            <p key={each.from} role="alert" className="flex flex-wrap items-center gap-2 text-xs text-red">
              {t(`newTask.unknown.${each.kind}`, { said: each.said })}
              {each.meant !== null && (
                <Button small onClick={() => onMeant(place, each)}>
                  {t("newTask.meant", { name: each.meant })}
                </Button>
              )}
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}

function Understanding({ chip, known }: { chip: Chip; known: Known }) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 rounded-full border border-line bg-sunken px-2 py-0.5 text-xs">
      <span aria-hidden className="flex">
        <Sign id={chip.id} label={chip.label} known={known} />
      </span>
      <span className="truncate">{t(`newTask.chip.${chip.kind}`, { name: chip.label })}</span>
    </span>
  );
}
