// All that would be approved: who really asks, and every text that counts, as somebody's words.

import type { Need } from "@/api/model";
import { useNames } from "@/app/names";
import { useTranslation } from "@/i18n/use-words";
import { visible } from "@/ui";

interface RequestTextsProps {
  request: NonNullable<Need["request"]>;
  /** Says who asks, too. */
  asker?: boolean;
}

export function RequestTexts({ request, asker = false }: RequestTextsProps) {
  const { t } = useTranslation("home");
  const names = useNames("").agent;
  const texts = [
    ["description", request.description],
    ["context", request.context ?? ""],
    ["acceptance", request.acceptance.join("\n")],
    ["commands", request.commands.join("\n")],
  ] as const;
  return (
    <div className="space-y-1 text-soft">
      {asker && (
        <p className="break-words">
          {t(request.asked_for === null ? "request.asks" : "request.asksFor", {
            asker: names(request.asked_by),
            person: names(request.asked_for ?? ""),
            assignee: names(request.assignee_id ?? ""),
          })}
        </p>
      )}
      {texts.map(
        ([name, text]) =>
          text !== "" && (
            <div key={name} className={name === "commands" ? "text-amber" : ""}>
              <p className="text-xs">{t(`request.${name}`)}</p>
              <pre className="max-h-40 overflow-auto rounded-md bg-sunken px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap">
                {visible(text)}
              </pre>
            </div>
          ),
      )}
      {!request.complete && <p className="text-xs text-amber">{t("request.cut")}</p>}
    </div>
  );
}
