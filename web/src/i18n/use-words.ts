// The words of the page in components. The function is the same one until another language is chosen; a component whose
// words are not there yet waits for them (`Suspense`).
import { use, useSyncExternalStore } from "react";

import { isLoaded, language, load, onLanguage, wordsIn, type Language, type TFunction } from "@/i18n/words";

const told = new Map<string, TFunction>();

function wordsOf(of: Language, namespace: string): TFunction {
  const name = `${of} ${namespace}`;
  const found = told.get(name) ?? wordsIn(of, namespace);
  told.set(name, found);
  return found;
}

export function useWords(namespace = "translation"): TFunction {
  const shown = useSyncExternalStore(onLanguage, language);
  if (!isLoaded(namespace)) use(load(namespace));
  return wordsOf(shown, namespace);
}

/** `t` says the words of a namespace, else the common ones. */
export function useTranslation(namespace?: string): { t: TFunction; i18n: { language: Language } } {
  return { t: useWords(namespace), i18n: { language: language() } };
}
