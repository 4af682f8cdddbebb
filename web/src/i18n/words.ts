// The words of the page: which language, where they come from, how one is said. Only the words of the language that is
// shown are loaded, those of a view with the view. React's side is in use-words.ts.
//
// Written here, because what is needed of a library (a catalogue, `{{values}}`, plurals, which `Intl` decides) is less
// than what one brings along: the words must be there before anything is drawn.
import { marked, spaced } from "@/i18n/spacing";

export type Language = "en" | "ja";

export interface Catalogue {
  [name: string]: string | Catalogue;
}

/** Says a word by its key: the namespace's own, else the common one. Of `count`, the form that fits. */
export type TFunction = (key: string, values?: Values) => string;

interface Values {
  count?: number | string;
  /** Another namespace than that of the function. */
  ns?: string;
  /** What is said where no catalogue has the key; otherwise the key itself. */
  defaultValue?: string;
  [name: string]: unknown;
}

const COMMON = "translation";
const KEY = "toryo.language";

/** `words.ts?en`: only the English half of the file (vite.config.ts). */
const VIEWS = {
  en: import.meta.glob<Catalogue>("../views/*/words.ts", { query: "?en", import: "en" }),
  ja: import.meta.glob<Catalogue>("../views/*/words.ts", { query: "?ja", import: "ja" }),
};
const SHARED = {
  en: () => import("@/i18n/en").then((words): Catalogue => words.en),
  ja: () => import("@/i18n/ja").then((words): Catalogue => words.ja),
};

const known: Record<Language, Map<string, Catalogue>> = { en: new Map(), ja: new Map() };
const coming = new Map<string, Promise<void>>();
let chosen = chosenLanguage();
const listeners = new Set<() => void>();

export function chosenLanguage(): Language {
  const kept = localStorage.getItem(KEY);
  if (kept === "en" || kept === "ja") return kept;
  return navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en";
}

/** The language that is shown. */
export const language = (): Language => chosen;

/** Shows another one as soon as its words are there for all that is shown now. */
export function chooseLanguage(next: Language): void {
  localStorage.setItem(KEY, next);
  document.documentElement.lang = next; // first: what is asked for from here on is worded in it
  const missing = [...known[chosen].keys()].filter((namespace) => !known[next].has(namespace));
  const change = () => {
    if (chosenLanguage() !== next) return; // another one was chosen meanwhile
    chosen = next;
    for (const each of listeners) each();
  };
  if (missing.length === 0) change();
  else void Promise.all(missing.map((namespace) => load(namespace, next))).then(change);
}

export function onLanguage(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export const isLoaded = (namespace: string): boolean => known[chosen].has(namespace);

/** The same promise until the words are there, so that a component can wait for it. */
export function load(namespace = COMMON, of = chosen): Promise<void> {
  const name = `${of} ${namespace}`;
  const found =
    coming.get(name) ??
    (namespace === COMMON ? SHARED[of]() : (VIEWS[of][`../views/${namespace}/words.ts`]?.() ?? Promise.resolve({})))
      .then((words) => void known[of].set(namespace, words))
      .catch((error: unknown) => {
        coming.delete(name); // the next one asks again
        throw error;
      });
  coming.set(name, found);
  return found;
}

/** A script, once the words that it says are there, too. */
export async function withWords<Script>(namespaces: string, script: Promise<Script>): Promise<Script> {
  const [found] = await Promise.all([script, ...namespaces.split(" ").map((each) => load(each))]);
  return found;
}

/** Every catalogue by language and namespace, for tests. */
export async function catalogues(): Promise<Record<Language, Record<string, Catalogue>>> {
  const names = [COMMON, ...Object.keys(VIEWS.en).map((path) => path.split("/").at(-2) ?? path)];
  await Promise.all((["en", "ja"] as const).flatMap((of) => names.map((namespace) => load(namespace, of))));
  return { en: Object.fromEntries(known.en), ja: Object.fromEntries(known.ja) };
}

export function wordsIn(of: Language, namespace: string): TFunction {
  return (key, values = {}) => {
    const forms = [...formsOf(of, values.count).map((form) => `${key}_${form}`), key];
    for (const place of [values.ns ?? namespace, COMMON]) {
      const words = known[of].get(place);
      for (const form of words === undefined ? [] : forms) {
        const found = lookUp(words, form);
        if (found !== undefined) return spaced(filled(found, values, of));
      }
    }
    return values.defaultValue ?? key;
  };
}

const plurals = new Map<Language, Intl.PluralRules>();

function formsOf(of: Language, count: number | string | undefined): string[] {
  if (typeof count !== "number") return [];
  const rules = plurals.get(of) ?? new Intl.PluralRules(of);
  plurals.set(of, rules);
  return [rules.select(count)];
}

function lookUp(words: Catalogue | undefined, key: string): string | undefined {
  let at: string | Catalogue | undefined = words;
  for (const name of key.split(".")) at = typeof at === "object" ? at[name] : undefined;
  return typeof at === "string" ? at : undefined;
}

/** `{{name}}` is a value as it is, `{{name, number}}` a number as the language writes it. */
function filled(text: string, values: Values, of: Language): string {
  return text.includes("{{")
    ? text.replace(/{{(\w+)(, number)?}}/g, (_, name: string, isNumber?: string) => {
        const value = values[name];
        return marked(isNumber === undefined ? String(value ?? "") : Number(value).toLocaleString(of));
      })
    : text;
}

document.documentElement.lang = chosen;
