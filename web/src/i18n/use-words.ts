// The words of the page for a part that stands on the screen many times: a mark, an instant, a cell. As `useTranslation`,
// but for the price of one comparison; nothing here is loaded, nothing suspends.
import i18next, { type TFunction } from "i18next";
import { useSyncExternalStore } from "react";

let language = "";
const told = new Map<string, TFunction>();

/** The same function until another language is chosen. */
function wordsOf(namespace: string): TFunction {
  if (language !== i18next.language) {
    told.clear();
    language = i18next.language;
  }
  const known = told.get(namespace) ?? i18next.getFixedT(language, namespace);
  told.set(namespace, known);
  return known;
}

function subscribe(changed: () => void): () => void {
  i18next.on("languageChanged", changed);
  return () => i18next.off("languageChanged", changed);
}

export function useWords(namespace = "translation"): TFunction {
  return useSyncExternalStore(subscribe, () => wordsOf(namespace));
}
