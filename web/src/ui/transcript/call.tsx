// A call of a tool as one row: what it was, how long it took, how it ended. It unfolds to arguments and result.
import { Check, ChevronRight, Circle, CircleCheck, CircleDot, LoaderCircle, X } from "lucide-react";
import { createElement, memo } from "react";

import { useWords } from "@/i18n/use-words";
import { language } from "@/i18n/words";
import { Elapsed, duration } from "@/ui/time";
import { Ansi, Found, uncontrolled } from "./ansi";
import type { Call } from "./lines";
import { objectOf, signOf, telling, todosOf, toolName, type Todo } from "./telling";

const LEAST_MS = 1000;

interface CallRowProps {
  call: Call;
  open: boolean;
  /** Whether its result may still come. */
  lives: boolean;
  words: string;
  onToggle: () => void;
}

export const CallRow = memo(function CallRow({ call, open, lives, words, onToggle }: CallRowProps) {
  const t = useWords();
  const todos = todosOf(call.tool, call.args);
  const state = call.result === null ? (lives ? "runs" : "unanswered") : call.failed ? "failed" : "done";
  return (
    <div
      data-call={state}
      className={`rounded-md border ${call.failed ? "border-red/50 bg-red-soft/60" : "border-line bg-panel"}`}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="flex w-full min-w-0 items-center gap-2 px-2 py-1 text-left text-[13px] hover:bg-sunken/60"
      >
        <ChevronRight
          size={13}
          aria-hidden
          className={`shrink-0 text-faint transition-transform ${open ? "rotate-90" : ""}`}
        />
        {createElement(signOf(call.tool), { size: 14, "aria-hidden": true, className: "shrink-0 text-soft" })}
        <span className="shrink-0 font-medium">{toolName(call.tool) || t("log.result")}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-soft">
          <Found text={telling(call.args)} words={words} />
        </span>
        <Took call={call} state={state} />
      </button>
      {todos !== null && <Todos todos={todos} />}
      {open && <Inside call={call} words={words} />}
    </div>
  );
});

function Took({ call, state }: { call: Call; state: string }) {
  const t = useWords();
  const took = call.at === null || call.done === null ? null : call.done - call.at;
  return (
    <span
      className={`flex shrink-0 items-center gap-1.5 text-xs tabular-nums ${call.failed ? "text-red" : "text-faint"}`}
    >
      {took !== null && took >= LEAST_MS && duration(took, language())}
      {state === "runs" && call.at !== null && <Elapsed from={new Date(call.at).toISOString()} />}
      {state === "runs" && (
        <LoaderCircle
          size={13}
          aria-label={t("log.runs")}
          className="animate-spin text-blue motion-reduce:animate-none"
        />
      )}
      {state === "done" && <Check size={13} aria-label={t("log.done")} className="text-green" />}
      {state === "failed" && (
        <>
          {t("log.failed")} <X size={13} aria-hidden />
        </>
      )}
      {state === "unanswered" && t("log.unanswered")}
    </span>
  );
}

function Inside({ call, words }: { call: Call; words: string }) {
  const t = useWords();
  const given = objectOf(call.args);
  return (
    <div className="space-y-2 border-t border-line px-3 py-2 text-[12.5px]">
      {given === null && call.args !== "" && <Block text={call.args} words={words} />}
      {given !== null && Object.keys(given).length > 0 && (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
          {Object.entries(given).map(([name, value]) => (
            <Argument key={name} name={name} value={value} words={words} />
          ))}
        </dl>
      )}
      {call.result !== null && call.result.trim() !== "" && (
        <section aria-label={t("log.result")}>
          <Block text={pretty(call.result)} words={words} failed={call.failed} />
        </section>
      )}
    </div>
  );
}

function Argument({ name, value, words }: { name: string; value: unknown; words: string }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="max-h-80 min-w-0 overflow-auto font-mono break-words whitespace-pre-wrap">
        <Found text={uncontrolled(typeof value === "string" ? value : JSON.stringify(value, null, 1))} words={words} />
      </dd>
    </>
  );
}

function Block({ text, words, failed = false }: { text: string; words: string; failed?: boolean }) {
  return (
    <pre
      // It may be longer than its place; who has no mouse scrolls it by keys.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={`max-h-96 overflow-auto rounded border border-line bg-sunken px-2 py-1.5 font-mono break-words whitespace-pre-wrap ${failed ? "text-red" : ""}`}
    >
      <Ansi text={text} words={words} />
    </pre>
  );
}

/** JSON is easier to read in lines. */
function pretty(result: string): string {
  const found = objectOf(result);
  return found === null ? result : JSON.stringify(found, null, 2);
}

const TICKS = { done: CircleCheck, doing: CircleDot, open: Circle };
const TONES = { done: "text-green", doing: "text-blue", open: "text-faint" };

function Todos({ todos }: { todos: readonly Todo[] }) {
  const t = useWords();
  return (
    <ul className="space-y-0.5 px-8 pb-2 text-[13px]">
      {todos.map(({ text, state }, place) => {
        const Tick = TICKS[state];
        return (
          <li key={place} className="flex gap-2">
            <Tick size={14} aria-label={t(`log.todo.${state}`)} className={`mt-0.5 shrink-0 ${TONES[state]}`} />
            <span className={state === "done" ? "text-soft line-through" : ""}>{text}</span>
          </li>
        );
      })}
    </ul>
  );
}
