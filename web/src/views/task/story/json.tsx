// The story as the server answers it, to take along.
import { Check, Copy } from "lucide-react";
import { useState } from "react";

import type { TraceTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Button, useToast } from "@/ui";

export function AsJson({ task }: { task: TraceTask }) {
  const { t } = useTranslation("task");
  const toast = useToast();
  const [copied, setCopied] = useState(false);
  const done = t("app.copied", { ns: "translation" });
  const text = JSON.stringify(task, null, 2);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      (error: unknown) => toast.failed(error),
    );
  return (
    <div className="relative">
      <Button small className="absolute top-2 right-2" onClick={() => void copy()}>
        {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        {copied ? done : t("story.copy")}
      </Button>
      <span role="status" className="sr-only">
        {copied ? done : ""}
      </span>
      <pre
        // It is scrolled by keys, too.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        aria-label={t("story.look.json")}
        className="max-h-[65vh] overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs"
      >
        {text}
      </pre>
    </div>
  );
}
