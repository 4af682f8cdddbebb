// What was used each day, as bars: money where prices are known, else tokens. Each bar says its amount.
import { useState } from "react";

import type { UsageRow } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { compact, money } from "@/ui";
import { tokensOf } from "@/views/usage/amounts";

const HEIGHT = 140;
const WIDTH = 720;

interface BarsProps {
  days: readonly { day: string; row: UsageRow | null }[];
  inMoney: boolean;
}

export function Bars({ days, inMoney }: BarsProps) {
  const { t, i18n } = useTranslation("usage");
  const [looked, setLooked] = useState<string | null>(null);
  const amountOf = (row: UsageRow | null) => (row === null ? 0 : inMoney ? (row.cost_usd ?? 0) : tokensOf(row));
  const most = Math.max(...days.map((each) => amountOf(each.row)), inMoney ? 0.0001 : 1);
  const step = WIDTH / days.length;
  const words = (amount: number) =>
    inMoney ? money(amount) : t("quota.used", { used: compact(amount, i18n.language) });
  const date = (day: string) =>
    new Date(`${day}T00:00:00Z`).toLocaleDateString(i18n.language, { timeZone: "UTC", month: "short", day: "numeric" });
  const chosen = days.find((each) => each.day === looked) ?? days.at(-1);
  return (
    <figure className="space-y-2 p-4">
      <figcaption className="flex items-baseline justify-between text-[13px]">
        <span className="font-medium tabular-nums">
          {chosen && t("barLabel", { day: date(chosen.day), amount: words(amountOf(chosen.row)) })}
        </span>
        <span className="text-xs text-faint">{t("utc")}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`} className="h-40 w-full" preserveAspectRatio="none" role="list">
        <line x1="0" x2={WIDTH} y1={HEIGHT + 1} y2={HEIGHT + 1} className="stroke-line-strong" />
        {days.map(({ day, row }, place) => {
          const height = (amountOf(row) / most) * (HEIGHT - 4);
          const label = t("barLabel", { day: date(day), amount: words(amountOf(row)) });
          return (
            <g key={day} role="listitem" aria-label={label} onPointerEnter={() => setLooked(day)}>
              <title>{label}</title>
              <rect x={place * step} y={0} width={step} height={HEIGHT} fill="transparent" />
              <rect
                x={place * step + step * 0.14}
                y={HEIGHT - Math.max(height, row === null ? 0 : 2)}
                width={step * 0.72}
                height={Math.max(height, row === null ? 0 : 2)}
                rx={Math.min(3, step * 0.1)}
                className={chosen?.day === day ? "fill-accent" : "fill-accent opacity-55"}
              />
            </g>
          );
        })}
      </svg>
      <div aria-hidden className="flex justify-between text-xs text-faint">
        {[days[0], days[Math.floor(days.length / 2)], days.at(-1)].map(
          (each, place) => each && <span key={place}>{date(each.day)}</span>,
        )}
      </div>
    </figure>
  );
}
