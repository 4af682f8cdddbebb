// What agents and people write, shown as text: code, lists of lines, bold words and web addresses are recognised,
// nothing else; never HTML.
import { Fragment, type ReactNode } from "react";

export type Part = { kind: "code"; text: string; language: string } | { kind: "text"; text: string };

// Texts come from others, up to megabytes: no pattern here may look at a part of one again and again. So a language has
// a length, and ends are found from behind.
const FENCE = /^ {0,3}```([\w+-]{0,40})[^\n]*\n([\s\S]*?)(?:^ {0,3}```[^\S\n]*$|(?![\s\S]))/gm;
const INLINE = /(`[^`\n]+`|\*\*[^*\n]+\*\*|https?:\/\/[^\s<>"'`）」】]+)/g;

/** Blocks of code, and the text between them. */
export function parts(text: string): Part[] {
  const found: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(FENCE)) {
    if (match.index > from) found.push({ kind: "text", text: text.slice(from, match.index) });
    found.push({ kind: "code", text: (match[2] ?? "").replace(/\n$/, ""), language: match[1] ?? "" });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found.filter((each) => each.kind === "code" || each.text.trim() !== "");
}

export function Prose({ text, className = "" }: { text: string; className?: string }) {
  return (
    <div className={`space-y-2 break-words ${className}`}>
      {parts(text).map((each, place) =>
        each.kind === "code" ? (
          <pre
            key={place}
            data-language={each.language}
            className="overflow-x-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-[13px] leading-relaxed text-ink"
          >
            <code>{each.text}</code>
          </pre>
        ) : (
          <p key={place} className="whitespace-pre-wrap">
            {inline(without(each.text, "\n", true))}
          </p>
        ),
      )}
    </div>
  );
}

function inline(text: string): ReactNode[] {
  return text.split(INLINE).map((piece, place) => <Fragment key={place}>{marked(piece)}</Fragment>);
}

function marked(piece: string): ReactNode {
  if (/^`[^`]+`$/.test(piece))
    return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.92em]">{piece.slice(1, -1)}</code>;
  if (/^\*\*[^*]+\*\*$/.test(piece)) return <strong>{piece.slice(2, -2)}</strong>;
  if (!/^https?:\/\//.test(piece)) return piece;
  const address = without(piece, ".,;:!?)]。、");
  const end = piece.slice(address.length);
  return (
    <>
      <a href={address} target="_blank" rel="noreferrer noopener nofollow" className="text-accent underline">
        {address}
      </a>
      {end}
    </>
  );
}

/** The text without these letters at its end, and perhaps at its beginning. */
function without(text: string, letters: string, atBoth = false): string {
  let from = 0;
  let to = text.length;
  while (to > 0 && letters.includes(text.charAt(to - 1))) to--;
  while (atBoth && from < to && letters.includes(text.charAt(from))) from++;
  return text.slice(from, to);
}
