// How a diff is laid out: side by side where it is wanted and there is room, and with how much of what stands around.
import { Columns2, Rows2, UnfoldVertical } from "lucide-react";
import { useState } from "react";

import { USUAL_CONTEXT } from "@/api/diffs";
import { useKeys } from "@/app/keys";
import { useWide } from "@/app/narrow";
import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";

const KEPT = "toryo.review.split";
/** Unchanged lines around each change: the usual ones, more, and (as many as the server allows) all. */
const CONTEXTS = { more: USUAL_CONTEXT, whole: 25, less: 1000 } as const;

type Further = keyof typeof CONTEXTS;

interface DiffLayout {
  split: boolean;
  wide: boolean;
  turn: () => void;
  /** What the next press on the context brings. */
  further: Further;
  widen: () => void;
}

export function useLayout(context: number, setContext: (lines: number) => void): DiffLayout {
  const { t } = useTranslation("review");
  const [wanted, setWanted] = useState(() => localStorage.getItem(KEPT) === "yes");
  const wide = useWide();
  const turn = () => {
    localStorage.setItem(KEPT, wanted ? "no" : "yes");
    setWanted(!wanted);
  };
  const names = Object.keys(CONTEXTS) as Further[];
  const further = names.find((each) => CONTEXTS[each] === context) ?? "more";
  const widen = () => setContext(CONTEXTS[names[(names.indexOf(further) + 1) % names.length] ?? "more"]);
  useKeys([
    { key: "u", words: t("keys.mode"), run: turn },
    { key: "e", words: t("keys.context"), run: widen },
  ]);
  return { split: wanted && wide, wide, turn, further, widen };
}

export function Layout({ layout: { split, wide, turn, further, widen } }: { layout: DiffLayout }) {
  const { t } = useTranslation("review");
  return (
    <div className="flex justify-end gap-1">
      <Button small look="quiet" onClick={widen}>
        <UnfoldVertical size={14} aria-hidden />
        {t(`context.${further}`)}
      </Button>
      {wide && (
        <Button small look="quiet" onClick={turn}>
          {split ? <Rows2 size={14} aria-hidden /> : <Columns2 size={14} aria-hidden />}
          {t(split ? "mode.unified" : "mode.split")}
        </Button>
      )}
    </div>
  );
}
