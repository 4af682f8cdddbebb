// What was reported at the end of a task: words are prose, and what is JSON is drawn as code.

import { useTranslation } from "@/i18n/use-words";
import { Prose } from "@/ui";
import { Code } from "@/ui/code/code";
import { Section } from "@/views/task/section";

export function Result({ value }: { value: unknown }) {
  const { t } = useTranslation("task");
  const json = jsonOf(value);
  return (
    <Section title={t("result")}>
      {json === null ? <Prose text={String(value)} /> : <Code text={json} language="json" />}
    </Section>
  );
}

/** The text of a value that is JSON, also of one that was reported as text; null for words. */
export function jsonOf(value: unknown): string | null {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  if (!/^\s*[{[]/.test(value)) return null;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return null;
  }
}
