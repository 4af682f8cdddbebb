// Amounts as people read them: money to the cent (less than ten cents to the hundredth of one), counts in thousands.
import { numberFormat } from "@/ui/formats";

export function money(dollars: number): string {
  const digits = dollars >= 0.1 || dollars === 0 ? 2 : 4;
  return `$${numberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(dollars)}`;
}

export function compact(count: number, language: string): string {
  return numberFormat(language, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}
