// Needs you: who, what, why, for how long, and the one thing to do about it, with a key.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Need, Overview } from "@/api/model";
import { agents } from "@/api/queries";
import { useOpenTask } from "@/app/going";
import { useCursor, useKeys } from "@/app/keys";
import { useMay } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import { AskWords, Badge, Button, Panel } from "@/ui";
import { useActing, type Acting } from "@/views/home/acting";
import { primary, second, type May } from "@/views/home/acts";
import { CalmLine } from "@/views/home/calm";
import { NeedRow } from "@/views/home/need";

const SHOWN = 12;

interface NeedsPanelProps {
  needs: Need[];
  calm: Overview["calm"];
  projectId: string | null;
}

export function NeedsPanel({ needs, calm, projectId }: NeedsPanelProps) {
  const { t } = useTranslation("home");
  const [whole, setWhole] = useState(false);
  const shown = whole ? needs : needs.slice(0, SHOWN);
  const acting = useActing();
  const may = useMay();
  const { at, put } = useRows(shown, acting, may);
  const names = new Map(useQuery(agents).data?.map((each) => [each.agent_id, each.name]));
  return (
    <Panel title={t("needs")} aside={needs.length > 0 && <Badge tone="accent">{needs.length}</Badge>}>
      {needs.length === 0 && <CalmLine calm={calm} projectId={projectId} />}
      <ul className="divide-y divide-line">
        {shown.map((need) => (
          <NeedRow
            key={need.key}
            need={need}
            who={need.agent_id === null ? null : (names.get(need.agent_id) ?? need.agent_id)}
            selected={need.key === at}
            onSelect={() => put(need.key)}
            acting={acting}
            may={may}
          />
        ))}
      </ul>
      {needs.length > SHOWN && (
        <div className="border-t border-line p-2 text-center">
          <Button look="quiet" small onClick={() => setWhole(!whole)}>
            {whole ? t("less") : t("app.more", { count: needs.length - SHOWN })}
          </Button>
        </div>
      )}
      <Asking acting={acting} />
    </Panel>
  );
}

/** The cursor stands on the first row from the beginning, so that its key is shown at once. */
function useRows(rows: Need[], acting: Acting, may: May) {
  const { t } = useTranslation("home");
  const { at, put, step } = useCursor(
    rows.map((each) => each.key),
    { first: true },
  );
  const openTask = useOpenTask();
  const current = rows.find((each) => each.key === at);
  function act(which: typeof primary) {
    const action = current === undefined ? undefined : which(current, may);
    if (current !== undefined && action !== undefined) acting.begin(current, action);
  }
  useKeys([
    { key: "j", words: t("keyNext"), run: () => step(1) },
    { key: "k", words: t("keyBefore"), run: () => step(-1) },
    { key: "Enter", words: t("keyOpen"), run: () => (current?.task_id ? openTask(current.task_id) : act(primary)) },
    { key: "a", words: t("keyAct"), run: () => act(primary) },
    { key: "r", words: t("keyReject"), run: () => act(second) },
  ]);
  return { at, put };
}

function Asking({ acting: { asking, said, close } }: { acting: Acting }) {
  const { t } = useTranslation("home");
  if (asking === null) return null;
  return (
    <AskWords
      title={`${asking.action.label}: ${asking.subject}`}
      label={t(`ask.${asking.asks}`)}
      action={asking.action.label}
      required
      danger={asking.asks === "reason"}
      onSaid={said}
      onClose={close}
    />
  );
}
