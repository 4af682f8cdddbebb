// Whether a message approves the task that is requested because of it, as the server reads it (domain/consent.py):
// tests/domain/consent_cases.json has messages that both must read alike.

/** What counts as a blank there: control characters have been replaced by then, and U+FEFF counts as a sign. */
const BLANK = "[^\\S\\v\\f\\r\\ufeff]";
const MARKER = new RegExp(`^/approve${BLANK}*$`);
const OF_OLD = new RegExp(`^(@@|＠＠)${BLANK}*$`);
const NOTHING = new RegExp(`^${BLANK}*$`);
/** The beginning of a line of a patch; `- ` before a word is a list item. */
const OF_A_PATCH = /^(@@|\*\*\* |[+-](?! [\S\v\f\r\ufeff]))/;

/** The first line is the marker and nothing else, and others say what is wanted. */
export function consents(content: string): boolean {
  const [first = "", ...wanted] = content.split("\n");
  if (wanted.every((each) => NOTHING.test(each))) return false;
  return MARKER.test(first) || (OF_OLD.test(first) && !isPatch(wanted));
}

/** Whether a line replaces another, or a line is not a list item. In doubt, it is a patch. */
function isPatch(lines: readonly string[]): boolean {
  const both = ["+", "-"].every((sign) => lines.some((line) => line.startsWith(sign)));
  return both || lines.some((line) => OF_A_PATCH.test(line));
}
