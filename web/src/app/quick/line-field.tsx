// The field for tasks as lines. What the word at the cursor may become is listed below it: Tab accepts, the arrow keys
// choose. Enter files, Shift+Enter begins another line. The list lies over what is below: where it were a part of the
// form, the button that is pressed would move away with it, and the click be lost.
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Avatar, Kbd, PriorityIcon, StatusIcon } from "@/ui";

import type { Known } from "./line";
import { accepted, activeAt, suggestions, type Active, type Suggestion } from "./suggesting";

const MOST_ROWS = 8;

interface LineFieldProps {
  text: string;
  onText: (text: string) => void;
  known: Known;
  active: Active | null;
  onActive: (active: Active | null) => void;
  onEnter: () => void;
  wrong: boolean;
}

export function LineField({ text, onText, known, active, onActive, onEnter, wrong }: LineFieldProps) {
  const { t } = useTranslation();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const cursor = useRef<number | null>(null);
  const [at, setAt] = useState(0);
  const all = suggestions(active, known);
  const place = Math.min(at, all.length - 1);
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    field.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  }, [text]);
  const look = (node: HTMLTextAreaElement) => {
    setAt(0);
    onActive(node.selectionStart === node.selectionEnd ? activeAt(node.value, node.selectionStart) : null);
  };
  const accept = (suggestion: Suggestion | undefined) => {
    if (active === null || suggestion === undefined) return;
    const next = accepted(text, active, suggestion.label);
    cursor.current = next.cursor;
    onText(next.text);
    onActive(null);
    field.current?.focus();
  };
  function pressed(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing || event.metaKey || event.ctrlKey || event.altKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (all.length > 0 && event.key === "Tab" && !event.shiftKey) accept(all[place]);
    else if (all.length > 0 && step !== 0) setAt((place + step + all.length) % all.length);
    else if (all.length > 0 && event.key === "Escape") onActive(null);
    else if (event.key === "Enter" && !event.shiftKey) onEnter();
    else return;
    event.preventDefault();
  }
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="text-[13px] font-medium">
        {t("newTask.what")}
      </label>
      <div className="relative">
        <textarea
          ref={field}
          id={id}
          rows={Math.min(MOST_ROWS, Math.max(1, text.split("\n").length))}
          value={text}
          placeholder={t("newTask.example")}
          aria-describedby={`${id}-help`}
          aria-invalid={wrong}
          aria-autocomplete="list"
          aria-controls={all.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={all.length > 0 ? `${id}-${place}` : undefined}
          data-escape={all.length > 0 ? "own" : undefined}
          onChange={(event) => {
            onText(event.target.value);
            look(event.target);
          }}
          onSelect={(event) => look(event.currentTarget)}
          onBlur={() => onActive(null)}
          onKeyDown={pressed}
          className="block w-full resize-none rounded-md border border-line-strong bg-panel px-2.5 py-2 text-[15px] text-ink placeholder:text-faint aria-[invalid=true]:border-red"
        />
        {all.length > 0 && (
          <ul
            id={`${id}-list`}
            role="listbox"
            aria-label={t("newTask.suggestions")}
            className="absolute inset-x-0 top-full z-10 mt-1 overflow-hidden rounded-md border border-line bg-panel shadow-sm"
          >
            {all.map((each, row) => (
              <Option
                key={each.id}
                id={`${id}-${row}`}
                each={each}
                known={known}
                chosen={row === place}
                onChoose={() => accept(each)}
              />
            ))}
          </ul>
        )}
      </div>
      <p id={`${id}-help`} className="text-xs text-faint">
        {t("newTask.how")}
      </p>
    </div>
  );
}

interface OptionProps {
  id: string;
  each: Suggestion;
  known: Known;
  chosen: boolean;
  onChoose: () => void;
}

function Option({ id, each, known, chosen, onChoose }: OptionProps) {
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events -- the field above hears the keys
    <li
      id={id}
      role="option"
      aria-selected={chosen}
      onMouseDown={(event) => event.preventDefault()} // the field keeps the focus
      onClick={onChoose}
      className={`flex cursor-pointer items-center gap-2 px-2.5 py-1.5 ${chosen ? "bg-sunken" : "hover:bg-sunken"}`}
    >
      <span aria-hidden className="flex w-5 justify-center">
        <Sign id={each.id} label={each.label} known={known} />
      </span>
      <span className="min-w-0 truncate">{each.label}</span>
      {chosen && (
        <span className="ml-auto">
          <Kbd>⇥</Kbd>
        </span>
      )}
    </li>
  );
}

/** The mark of an agent, a priority or a task. */
export function Sign({ id, label, known }: Suggestion & { known: Known }) {
  const task = known.tasks.find((each) => each.id === id);
  const priority = known.priorities.find((each) => each.id === id);
  if (task !== undefined) return <StatusIcon status={task.status} />;
  if (priority !== undefined) return <PriorityIcon priority={priority.id} />;
  return <Avatar id={id} name={label} size={18} />;
}
