// Which texts are drawn as Markdown. Texts come from others, up to megabytes, and some are made to take long: no check
// here looks at a part of a text again and again.

/** Longer texts are shown as they are. */
export const LONGEST = 60_000;
/** Marks that may stand before a line's words: quotes and lists within each other. */
export const DEEPEST = 24;
/** Whether anything in it could mean more than its letters. */
export function isMarked(text: string): boolean {
  return /[`*_~#>[\]|<\\]|https?:|www\.|@|^ {0,3}(?:[-+]|\d{1,9}[.)])\s|^ {0,3}[-=]{2,}|\n\s*\n|^(?: {4}|\t)/m.test(
    text,
  );
}

/** What still takes long is ended in the worker. */
export function isDrawable(text: string): boolean {
  return text.length <= LONGEST && text.split("\n").every((line) => depth(line) <= DEEPEST);
}

/** How deeply a line may be nested: the quotes and lists before its words, and its indent. */
export function depth(line: string): number {
  let marks = 0;
  let spaces = 0;
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    const next = line.charAt(at + 1);
    if (letter === " ") spaces++;
    else if (letter === "\t") spaces += 4;
    else if (letter === ">" || ("-*+".includes(letter) && (next === " " || next === "\t"))) {
      marks++;
      if (next === " ") at++;
    } else {
      const number = /^\d{1,9}[.)]\s/.exec(line.slice(at, at + 12));
      if (number === null) break;
      marks++;
      at += number[0].length - 1;
    }
  }
  return marks + (marks > 0 ? Math.floor(spaces / 2) : 0); // an indent alone is code: it nests nothing
}
