// Instants within words, in the reader's own time. Also used by the service worker: nothing of the page is needed.

/** An instant as programs write it (ISO 8601). */
export const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/g;

/** `14:05`; with its date on another day. */
export function timeOfDay(at: string, language: string): string {
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  const date = !today ? ({ month: "short", day: "numeric" } as const) : {};
  return new Intl.DateTimeFormat(language, { ...date, hour: "2-digit", minute: "2-digit" }).format(moment);
}

export function inOwnTime(text: string, language: string): string {
  return text.replace(INSTANT, (at) => timeOfDay(at, language));
}
