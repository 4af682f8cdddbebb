// Changes that grant more rights ask for confirmation first. What widens, the server says: it is asked
// by the same request with `preview`.
import { useState } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Confirm } from "@/ui";

/** Somebody has decided against it: nothing was changed, and nothing has to be shown. */
export class NotDone extends Error {}

/** With `preview` the server says what a change widens, and changes nothing. */
interface Previewed {
  preview?: true;
}

interface Asked {
  widened: string[];
  answer: (yes: boolean) => void;
}

export type Patch = ReturnType<typeof useWidening>["patch"];

/** `patch` sends a change, and rejects with NotDone where the answer was no; `dialog` asks. */
export function useWidening() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<Asked | null>(null);

  async function patch<Answer extends { widened?: string[] }>(send: (how: Previewed) => Promise<Answer>) {
    const { widened = [] } = await send({ preview: true });
    if (widened.length > 0) {
      const yes = await new Promise<boolean>((answer) => setAsked({ widened, answer }));
      setAsked(null);
      if (!yes) throw new NotDone();
    }
    return send({});
  }

  const dialog = asked !== null && (
    <Confirm
      open
      title={t("widening.title")}
      action={t("widening.go")}
      onConfirm={() => asked.answer(true)}
      onClose={() => asked.answer(false)}
    >
      <p>{t("widening.text")}</p>
      <ul className="mt-2 list-disc pl-5 font-mono text-[13px]">
        {asked.widened.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </Confirm>
  );
  return { patch, dialog };
}
