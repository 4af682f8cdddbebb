// Any JSON as a tree that folds: what is small is open, what is large waits.
import { ChevronRight } from "lucide-react";
import { useState } from "react";

import { useTranslation } from "@/i18n/use-words";

const OPEN_UP_TO = 12;
const MOST = 200;

export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />;
  return <Branch value={value} name={name} depth={depth} />;
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span className="text-violet">{name}: </span>;
}

const TONES: Record<string, string> = { string: "text-green", number: "text-blue", boolean: "text-amber" };

function Leaf({ name, value }: { name: string | undefined; value: unknown }) {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return (
    <div className="pl-5 break-words whitespace-pre-wrap">
      <Name name={name} />
      <span className={TONES[typeof value] ?? "text-faint"}>{shown}</span>
    </div>
  );
}

function Branch({ value, name, depth }: { value: object; name: string | undefined; depth: number }) {
  const { t } = useTranslation("state");
  const entries = Object.entries(value);
  const [open, setOpen] = useState(depth === 0 || (depth < 3 && entries.length <= OPEN_UP_TO));
  const [shown, setShown] = useState(MOST);
  const list = Array.isArray(value);
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="inline-flex items-center gap-1 rounded hover:bg-sunken"
      >
        <ChevronRight size={14} aria-hidden className={`text-faint transition-transform ${open ? "rotate-90" : ""}`} />
        <Name name={name} />
        <span className="text-faint">
          {list ? "[ ] " : "{ } "}
          {t(list ? "items" : "keys", { count: entries.length })}
        </span>
      </button>
      {open && (
        <div className="ml-[7px] border-l border-line pl-2">
          {entries.slice(0, shown).map(([key, each]) => (
            <Tree key={key} name={key} value={each} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className="pl-5 link" onClick={() => setShown(shown + MOST)}>
              {t("app.more", { count: Math.min(MOST, entries.length - shown) })}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
