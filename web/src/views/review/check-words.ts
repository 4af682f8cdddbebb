// How the result of a check is said, wherever a review shows one.
import { useTranslation } from "@/i18n/use-words";
import { bytes, duration, type CheckWords } from "@/ui";

export function useCheckWords(): CheckWords {
  const { t, i18n } = useTranslation("review");
  return {
    outcome: ({ outcome, runs, seconds }) =>
      t(`about.checked.${outcome}`, { runs, time: duration(seconds * 1000, i18n.language) }),
    output: t("about.checked.output"),
    leftOut: t("about.checked.leftOut"),
    size: (count) => bytes(count, i18n.language),
  };
}
