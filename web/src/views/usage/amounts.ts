// Sums as people read them, and one row for each day.
import type { Sums, UsageRow } from "@/api/model";
import { money } from "@/ui";

export const tokensOf = (sums: Sums) => sums.input_tokens + sums.output_tokens;

/** Null where nothing has a price; `+` where something has none: the cost is more than this. */
export function costWords(sums: Sums): string | null {
  if (sums.cost_usd === null) return null;
  return money(sums.cost_usd) + (sums.without_price > 0 ? "+" : "");
}

/** One row for each day, also for those on which nothing was used. */
export function everyDay(
  rows: readonly UsageRow[],
  since: string,
  until: string,
): { day: string; row: UsageRow | null }[] {
  const found = new Map(rows.map((each) => [each.day, each]));
  const days: { day: string; row: UsageRow | null }[] = [];
  const last = Date.parse(`${until}T00:00:00Z`);
  for (let at = Date.parse(`${since}T00:00:00Z`); at <= last; at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push({ day, row: found.get(day) ?? null });
  }
  return days;
}
