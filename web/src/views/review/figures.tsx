// How many lines were added and removed.
import { useTranslation } from "@/i18n/use-words";

export function Figures({ insertions, deletions }: { insertions: number; deletions: number }) {
  const { t } = useTranslation("review");
  return (
    <span className="shrink-0 text-xs font-medium whitespace-nowrap tabular-nums">
      <span className="text-green" title={t("added", { count: insertions })}>
        +{insertions}
      </span>{" "}
      <span className="text-red" title={t("removed", { count: deletions })}>
        −{deletions}
      </span>
    </span>
  );
}
