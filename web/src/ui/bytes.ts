// `1.2 GB`: what something takes, in the largest unit that leaves a number people can read.
import { numberFormat } from "@/ui/formats";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function bytes(count: number, language: string): string {
  const step = count < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return numberFormat(language, {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step === 0 ? "long" : "short", // the short one of English has no plural
    maximumFractionDigits: step > 0 && value < 10 ? 1 : 0,
  }).format(value);
}
