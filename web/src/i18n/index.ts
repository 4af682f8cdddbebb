// The page's words. Common ones stand here, a view's own beside it (`views/<name>/words.ts`, under its name as
// namespace). The person's choice counts, else the browser's.
export { useTranslation, useWords } from "@/i18n/use-words";
export * from "@/i18n/words";
