// Short words of the server or of an agent: a task that they name by its id is drawn as the task, an instant is said in
// the reader's own time. Longer texts, which may be Markdown, are `Prose`.
import { Fragment, useContext, useMemo, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";

import { INSTANT, inOwnTime, timeOfDay } from "./instants";
import { Mentions, TASK_ID, Titles } from "./mentions";

const NAMED = new RegExp(`${TASK_ID.source}|${INSTANT.source}`, "g");
/** A question is answered where it stands: no page needs its id. */
const QUESTION_ID = / ?[（(]qst_[0-9a-z]{8,}[)）]/g;
/** `"Build" (tsk_…)`, in either language: the title and the id of the same task. */
const BOTH = /(["“「『])([^"“”「」『』\n]*)(["”」』]) ?[（(](tsk_[0-9a-z]{8,})[)）]/g;

export function Told({ text }: { text: string }) {
  const mention = useContext(Mentions);
  const plainly = usePlainly();
  const { i18n } = useTranslation();
  return useMemo(
    () => (mention === null ? plainly(text) : <>{pieces(text, mention, i18n.language)}</>),
    [mention, plainly, text, i18n.language],
  );
}

function pieces(text: string, mention: (taskId: string) => ReactNode, language: string): ReactNode[] {
  const words = withoutTitles(text);
  const found: ReactNode[] = [];
  let from = 0;
  for (const { 0: name, index } of words.matchAll(NAMED)) {
    found.push(words.slice(from, index));
    const drawn = name.startsWith("tsk_") ? mention(name) : timeOfDay(name, language);
    found.push(<Fragment key={index}>{drawn}</Fragment>);
    from = index + name.length;
  }
  return [...found, words.slice(from)];
}

/** Where the title of a task stands before its id, what is drawn has both. */
export function withoutTitles(text: string): string {
  return text.replace(QUESTION_ID, "").replace(BOTH, "$4");
}

/** The same as text alone: within a button, or in a title. */
export function usePlainly(): (text: string) => string {
  const titleOf = useContext(Titles);
  const { i18n } = useTranslation();
  return useMemo(() => (text) => plain(text, titleOf, i18n.language), [titleOf, i18n.language]);
}

function plain(text: string, titleOf: (taskId: string) => string | undefined, language: string): string {
  const [open, close] = language === "ja" ? ["「", "」"] : ["“", "”"];
  const named = text
    .replace(QUESTION_ID, "")
    .replace(BOTH, "$1$2$3")
    .replace(TASK_ID, (id) => {
      const title = titleOf(id);
      return title === undefined ? "…" : `${open}${title}${close}`;
    });
  return inOwnTime(named, language);
}
