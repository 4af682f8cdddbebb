// The fallback programs of an agent as lines of text, written as Toryo names programs: `gemini gemini-2.5-flash`,
// `claude (second)`.
type Program = { provider: string; model?: string; account?: string };

const LINE = /^(?<provider>[^\s()]+)(?: +(?<model>[^\s()]+))?(?: +\((?<account>[^()]+)\))?$/;

/** What is stored as text; null if it does not fit on lines: then it stays as it is. */
export function linesOf(stored: unknown): string | null {
  if (stored === undefined) return "";
  const programs = (Array.isArray(stored) ? stored : [stored]).map(lineOf);
  return programs.every((line) => line !== null) ? programs.join("\n") : null;
}

function lineOf(stored: unknown): string | null {
  if (typeof stored !== "object" || stored === null) return null;
  const { provider, model, account, ...more } = stored as Record<string, unknown>;
  const parts = [provider, model, account === undefined ? undefined : `(${String(account)})`];
  const line = parts.filter((each) => each !== undefined).join(" ");
  const back = programOf(line);
  const same = back?.provider === provider && back?.model === model && back?.account === account;
  return same && Object.keys(more).length === 0 ? line : null;
}

function programOf(line: string): Program | null {
  const found = LINE.exec(line)?.groups;
  if (found?.["provider"] === undefined) return null;
  const { provider, model, account } = found;
  return { provider, ...(model === undefined ? {} : { model }), ...(account === undefined ? {} : { account }) };
}

const filled = (said: string) =>
  said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** As the option is stored: none, one program, or a list. Raises SyntaxError for a line that names no program. */
export function fallbackOf(said: string): Program | Program[] | undefined {
  const wrong = wrongLine(said);
  if (wrong !== null) throw new SyntaxError(wrong);
  const programs = filled(said).flatMap((line) => programOf(line) ?? []);
  return programs.length > 1 ? programs : programs[0];
}

/** The first line that names no program; null if all do. */
export const wrongLine = (said: string): string | null => filled(said).find((line) => programOf(line) === null) ?? null;
