// What a program printed, in its colours. Other things that are told to terminals are dropped: they say nothing here.
import Anser from "anser";
import { memo } from "react";

// What a program prints may begin such a thing a million times and never end it: the end of one is not looked for
// beyond the beginning of the next.
const ESCAPE = "\\u001b";
const CONTROLS = new RegExp(
  `${ESCAPE}\\[[0-9;?]*[ -/]*[@-ln-~]|${ESCAPE}\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?|${ESCAPE}[^\\[\\]]|[\\u0000-\\u0008\\u000b-\\u000c\\u000e-\\u001a\\u007f]`,
  "g",
);
const TONES: Record<string, string> = {
  "ansi-red": "text-red",
  "ansi-green": "text-green",
  "ansi-yellow": "text-amber",
  "ansi-blue": "text-blue",
  "ansi-magenta": "text-violet",
  "ansi-cyan": "text-blue",
  "ansi-black": "text-faint",
  "ansi-white": "text-soft",
};
const LOOKS: Record<string, string> = {
  bold: "font-semibold",
  dim: "opacity-70",
  italic: "italic",
  underline: "underline",
  strikethrough: "line-through",
};

export interface Painted {
  text: string;
  look: string;
}

/** Lines that were written over (progress) show what stood there last. */
export function uncontrolled(text: string): string {
  return text
    .replace(CONTROLS, "")
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .join("\n");
}

export function painted(text: string): Painted[] {
  const clean = uncontrolled(text);
  if (!clean.includes("\u001b")) return [{ text: clean, look: "" }];
  return Anser.ansiToJson(clean, { json: true, use_classes: true, remove_empty: true }).map((each) => ({
    text: each.content.replaceAll("\u001b", ""),
    look: [toneOf(each.fg), ...each.decorations.map((one) => LOOKS[one])].filter(Boolean).join(" "),
  }));
}

/** Of its many colours the nearest of this page, which can be read on its grounds. */
function toneOf(colour: string | null): string | undefined {
  if (colour === null) return undefined;
  const known = TONES[colour.replace("-bright", "")];
  if (known !== undefined) return known;
  const number = Number(/palette-(\d+)$/.exec(colour)?.[1] ?? NaN);
  if (number >= 232 || Number.isNaN(number)) return undefined;
  const [red, green, blue] = [Math.floor((number - 16) / 36), Math.floor((number - 16) / 6) % 6, (number - 16) % 6];
  if (red === green && green === blue) return undefined;
  if (red >= green && red >= blue)
    return green >= red * 0.6 ? "text-amber" : blue >= red * 0.7 ? "text-violet" : "text-red";
  return green >= blue ? "text-green" : red >= blue * 0.6 ? "text-violet" : "text-blue";
}

export const Ansi = memo(function Ansi({ text, words = "" }: { text: string; words?: string }) {
  return painted(text).map(({ text: part, look }, place) => (
    <span key={place} className={look || undefined}>
      <Found text={part} words={words} />
    </span>
  ));
});

/** A text with what is looked for marked. */
export function Found({ text, words }: { text: string; words: string }) {
  const wanted = words.toLowerCase();
  const low = text.toLowerCase();
  if (wanted === "" || low.length !== text.length || !low.includes(wanted)) return text;
  const parts = [];
  let from = 0;
  for (let at = low.indexOf(wanted); at !== -1; at = low.indexOf(wanted, from)) {
    parts.push(text.slice(from, at));
    parts.push(
      <mark key={at} className="rounded-sm bg-amber text-paper">
        {text.slice(at, at + wanted.length)}
      </mark>,
    );
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
