// Instants within words, in the reader's own time. Also used by the service worker: nothing of the page is needed.

/** An instant as programs write it (ISO 8601). */
export const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/g;

/** `14:05`; with its date where that is not within a day. */
export function timeOfDay(at: string, language: string): string {
  const moment = Date.parse(at);
  const far = Math.abs(moment - Date.now()) > 86_400_000;
  const date = far ? ({ month: "short", day: "numeric" } as const) : {};
  return new Intl.DateTimeFormat(language, { ...date, hour: "2-digit", minute: "2-digit" }).format(moment);
}

export function inOwnTime(text: string, language: string): string {
  return text.replace(INSTANT, (at) => timeOfDay(at, language));
}
