// Above the graph: which tree, what of it, and as a picture or as a list.
import { List, Network, Route } from "lucide-react";

import type { BoardTask } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";

import type { useAddress } from "./address";
import { headOf, type Part } from "./parts";

/** More trees than this are not listed: a selected task leads to its own. */
const LISTED = 200;

interface ToolsProps {
  address: ReturnType<typeof useAddress>;
  all: readonly BoardTask[];
  parts: readonly Part[];
  /** How many tasks have no links, and whether they are shown. */
  loose: number;
  looseShown: boolean;
  path: number;
  children?: React.ReactNode;
}

export function Tools({ address, all, parts, loose, looseShown, path, children }: ToolsProps) {
  const { t } = useTranslation("graph");
  const { root, setRoot, finished, setFinished, setLoose, list, setList } = address;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
      <select
        aria-label={t("root")}
        value={root ?? ""}
        onChange={(event) => setRoot(event.target.value)}
        className="h-8 max-w-full min-w-0 rounded-md border border-line-strong bg-panel px-2 sm:max-w-80"
      >
        <option value="">{t("whole")}</option>
        {treesOf(all, parts, root).map((each) => (
          <option key={each.task_id} value={each.task_id}>
            {each.title}
          </option>
        ))}
      </select>
      <div role="group" aria-label={t("look")} className="flex rounded-md border border-line-strong bg-panel p-0.5">
        <Look chosen={!list} onChoose={() => setList(false)}>
          <Network size={14} aria-hidden />
          {t("picture")}
        </Look>
        <Look chosen={list} onChoose={() => setList(true)}>
          <List size={14} aria-hidden />
          {t("chains")}
        </Look>
      </div>
      <Switch on={finished} onTurn={setFinished} words={t("finished")} />
      {loose > 0 && <Switch on={looseShown} onTurn={setLoose} words={t("loose", { count: loose })} />}
      {path > 1 && (
        <span className="flex items-center gap-1.5 text-xs text-accent">
          <Route size={14} aria-hidden />
          {t("legend.critical", { count: path })}
        </span>
      )}
      {children}
    </div>
  );
}

/** The trees that have links, and the one that is chosen. */
function treesOf(all: readonly BoardTask[], parts: readonly Part[], root: string | undefined): BoardTask[] {
  const heads = parts.flatMap((each) => headOf(each) ?? []).filter((each) => each.parent_task_id === null);
  const listed = heads.slice(0, LISTED);
  const chosen = all.find((each) => each.task_id === root);
  return chosen === undefined || listed.includes(chosen) ? listed : [chosen, ...listed];
}

function Look({ chosen, onChoose, children }: { chosen: boolean; onChoose: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      className="flex h-7 items-center gap-1.5 rounded px-2.5 text-[13px] text-soft hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
    >
      {children}
    </button>
  );
}

function Switch({ on, onTurn, words }: { on: boolean; onTurn: (on: boolean) => void; words: string }) {
  return (
    <label className="flex items-center gap-2 text-soft">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onTurn(event.target.checked)}
        className="size-4 accent-[var(--accent)]"
      />
      {words}
    </label>
  );
}
