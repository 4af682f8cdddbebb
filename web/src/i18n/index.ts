// The page's words. Common ones stand here, a view's own beside it (`views/<name>/words.ts`, under its name as
// namespace). The person's choice counts, else the browser's.
import i18next, { type Resource, type ResourceLanguage } from "i18next";
import { initReactI18next } from "react-i18next";

import { en } from "@/i18n/en";
import { ja } from "@/i18n/ja";

export type Language = "en" | "ja";
const KEY = "toryo.language";

interface Words {
  en: ResourceLanguage[string];
  ja: ResourceLanguage[string];
}

const views = import.meta.glob<Words>("../views/*/words.ts", { eager: true });

/** Every catalogue by language and namespace; a test compares their keys. */
export function catalogues(): Resource {
  const found: { en: ResourceLanguage; ja: ResourceLanguage } = { en: { translation: en }, ja: { translation: ja } };
  for (const [path, words] of Object.entries(views)) {
    const name = path.split("/").at(-2) ?? path;
    found.en[name] = words.en;
    found.ja[name] = words.ja;
  }
  return found;
}

export function chosenLanguage(): Language {
  const kept = localStorage.getItem(KEY);
  if (kept === "en" || kept === "ja") return kept;
  return navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en";
}

export function chooseLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
  document.documentElement.lang = language; // first: what is asked for from here on is worded in it
  void i18next.changeLanguage(language);
}

void i18next.use(initReactI18next).init({
  lng: chosenLanguage(),
  fallbackLng: "en",
  fallbackNS: "translation",
  resources: catalogues(),
  interpolation: { escapeValue: false }, // React escapes
  returnNull: false,
});
document.documentElement.lang = chosenLanguage();
