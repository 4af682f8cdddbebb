// Comments of one file: one is written at a time, about a line or (with Shift) about several; those that are kept stand
// below their lines.
import { useMemo, useState } from "react";

import { useTranslation } from "@/i18n/use-words";
import { keyOf, type Comment, type Comments } from "@/views/review/comments";
import type { Commenting } from "@/views/review/lines";
import type { Hunk, Line } from "@/views/review/patch";
import { Kept, Writing } from "@/views/review/remark";

export const NOBODY: Commenting = { start: null, below: () => null, meant: () => false };

export function useCommenting(
  path: string,
  hunks: readonly Hunk[],
  kept: readonly Comment[],
  how: Pick<Comments, "put" | "drop" | "place"> | null,
): Commenting {
  const { t } = useTranslation("review");
  const [writing, setWriting] = useState<Comment | null>(null);
  const [origin, setOrigin] = useState(""); // what is written stays one draft while its lines become more
  const byKey = useMemo(() => new Map(kept.map((each) => [keyOf(each), each])), [kept]);
  if (how === null) return NOBODY;

  const edit = (comment: Comment) => {
    setOrigin(keyOf(comment));
    setWriting(comment);
  };
  const start = (side: Comment["side"], line: Line, further: boolean) => {
    const number = line.now ?? line.old ?? 0;
    if (further && writing !== null && writing.side === side) {
      setWriting(spanning(hunks, writing, number));
      return;
    }
    const wanted = { path, side, line: number, quote: line.text, text: "" };
    edit(byKey.get(keyOf(wanted)) ?? wanted);
  };
  const named = ({ from, line }: Comment) =>
    from !== undefined && from < line ? t("comment.lines", { from, line }) : null;
  const below = (side: Comment["side"], line: number) => {
    const key = keyOf({ path, side, line });
    const known = byKey.get(key);
    if (writing !== null && keyOf(writing) === key)
      return (
        <Writing
          place={`${how.place}.${origin}`}
          text={writing.text}
          quote={writing.quote}
          about={named(writing)}
          suggests={side === "now"}
          onClose={() => setWriting(null)}
          onKeep={(text) => {
            const before = byKey.get(origin);
            if (before !== undefined && origin !== key) how.drop(before);
            how.put({ ...writing, text });
            setWriting(null);
          }}
        />
      );
    return (
      known && (
        <Kept
          text={known.text}
          quote={known.quote}
          about={named(known)}
          onEdit={() => edit(known)}
          onDrop={() => how.drop(known)}
        />
      )
    );
  };
  const meant = (side: Comment["side"], line: number) =>
    writing !== null && writing.side === side && line >= (writing.from ?? writing.line) && line <= writing.line;
  return { start, below, meant };
}

/** From where it began to this line, as far as the lines between are shown. */
export function spanning(hunks: readonly Hunk[], comment: Comment, number: number): Comment {
  const begin = comment.from ?? comment.line;
  const [from, to] = [Math.min(begin, number), Math.max(begin, number)];
  const numbered = (line: Line) => (comment.side === "now" ? line.now : line.old);
  const hunk = hunks.find((each) => each.lines.some((line) => numbered(line) === begin));
  const lines = (hunk?.lines ?? []).filter((line) => {
    const at = numbered(line);
    return at !== null && at >= from && at <= to;
  });
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return comment;
  return {
    ...comment,
    from: numbered(first) ?? from,
    line: numbered(last) ?? to,
    quote: lines.map((each) => each.text).join("\n"),
  };
}
