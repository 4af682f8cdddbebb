// The lines of one file, one below the other or side by side. A line can be commented; the text stays text.
import { MessageSquarePlus } from "lucide-react";
import { Fragment, type KeyboardEvent, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Tokens } from "@/ui/code/code";
import type { Token } from "@/ui/code/tokens";
import { cutAt } from "@/views/review/colours";
import type { Comment } from "@/views/review/comments";
import { go } from "@/views/review/moving";
import { sideBySide, type Line } from "@/views/review/patch";

/** What lines are shown with: whose comments stand below which, and what a press on a line does. */
export interface Commenting {
  /** null: this person does not comment. */
  start: ((side: Comment["side"], line: Line, further: boolean) => void) | null;
  /** Whether a comment that is being written is about this line. */
  meant: (side: Comment["side"], line: number) => boolean;
  below: (side: Comment["side"], line: number) => ReactNode;
}

const TINT = { same: "", added: "bg-green-soft", removed: "bg-red-soft" } as const;
const STRONG = { same: "", added: "bg-green/20", removed: "bg-red/20" } as const;
const SIGN = { same: " ", added: "+", removed: "-" } as const;

const MEANT = "shadow-[inset_3px_0_0_var(--accent)]";
const meantBy = (commenting: Commenting, line: Line): string =>
  commenting.meant(sideOf(line), numberOf(line)) ? MEANT : "";
const sideOf = (line: Line): Comment["side"] => (line.now === null ? "old" : "now");
const numberOf = (line: Line): number => line.now ?? line.old ?? 0;

interface LinesProps {
  lines: readonly Line[];
  split: boolean;
  commenting: Commenting;
  /** The colours of a line; null until they are known. */
  colours: (line: Line) => readonly Token[] | null;
}

export function Lines({ split, ...rest }: LinesProps) {
  return split ? <Split {...rest} /> : <Unified {...rest} />;
}

function Unified({ lines, commenting, colours }: Omit<LinesProps, "split">) {
  return lines.map((line, place) => (
    <Fragment key={place}>
      <tr className={`group ${TINT[line.kind]} ${meantBy(commenting, line)}`}>
        <Number value={line.old} />
        <Number value={line.now} />
        <Mark line={line} first={begins(lines, place)} commenting={commenting} />
        <Code line={line} tokens={colours(line)} />
      </tr>
      <Below columns={4}>{commenting.below(sideOf(line), numberOf(line))}</Below>
    </Fragment>
  ));
}

function Split({ lines, commenting, colours }: Omit<LinesProps, "split">) {
  const rows = sideBySide(lines);
  return rows.map(({ left, right }, place) => {
    const before = rows[place - 1];
    const changed = left !== right;
    const first = changed && (before === undefined || before.left === before.right);
    return (
      <Fragment key={place}>
        <tr
          className={`group ${[left, right].some((each) => each !== null && meantBy(commenting, each) !== "") ? MEANT : ""}`}
        >
          <Half line={left} side="old" first={first && right === null} {...{ commenting, colours }} />
          <Half line={right} side="now" first={first} {...{ commenting, colours }} />
        </tr>
        <Below columns={6}>
          {changed && left?.old != null && commenting.below("old", left.old)}
          {right?.now != null && commenting.below("now", right.now)}
        </Below>
      </Fragment>
    );
  });
}

interface HalfProps extends Pick<LinesProps, "commenting" | "colours"> {
  line: Line | null;
  side: Comment["side"];
  first: boolean;
}

function Half({ line, side, first, commenting, colours }: HalfProps) {
  if (line === null) return <td colSpan={3} className="border-l border-line bg-sunken" />;
  const once = line.kind === "same" && side === "old"; // an unchanged line is commented on the right
  return (
    <>
      <Number value={side === "old" ? line.old : line.now} tint={TINT[line.kind]} />
      {once ? <td /> : <Mark line={line} first={first} commenting={commenting} tint={TINT[line.kind]} />}
      <Code line={line} tokens={colours(line)} tint={TINT[line.kind]} />
    </>
  );
}

/** Whether a change begins here. */
function begins(lines: readonly Line[], place: number): boolean {
  return lines[place]?.kind !== "same" && (lines[place - 1]?.kind ?? "same") === "same";
}

function Number({ value, tint = "" }: { value: number | null; tint?: string }) {
  return (
    <td className={`w-10 px-1.5 text-right align-top text-xs text-faint tabular-nums select-none ${tint}`}>{value}</td>
  );
}

function Mark({
  line,
  first,
  commenting,
  tint = "",
}: {
  line: Line;
  first: boolean;
  commenting: Commenting;
  tint?: string;
}) {
  const { t } = useTranslation("review");
  const { start } = commenting;
  return (
    <td className={`w-6 align-top select-none ${tint}`}>
      <span className="relative block text-center text-soft">
        {SIGN[line.kind]}
        {start !== null && (
          <button
            type="button"
            tabIndex={-1}
            data-line
            data-change={first || undefined}
            aria-label={t("comment.add", { line: numberOf(line) })}
            title={t("comment.add", { line: numberOf(line) })}
            onClick={(event) => start(sideOf(line), line, event.shiftKey)}
            onKeyDown={stepped}
            className="absolute -inset-x-0.5 inset-y-0 flex items-center justify-center rounded bg-accent text-accent-ink opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
          >
            <MessageSquarePlus size={13} aria-hidden />
          </button>
        )}
        {start === null && first && <span tabIndex={-1} data-line data-change className="absolute inset-0" />}
      </span>
    </td>
  );
}

/** From line to line, once one stands on one. */
function stepped(event: KeyboardEvent): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  go("line", event.key === "ArrowDown" ? 1 : -1);
}

function Code({ line, tokens, tint = "" }: { line: Line; tokens: readonly Token[] | null; tint?: string }) {
  const { t } = useTranslation("review");
  const [before, inside, after] = cutAt(tokens ?? [[line.text, ""]], line.differs ?? [0, 0]);
  return (
    <td
      data-tinted={line.kind !== "same" || undefined}
      className={`h-[1.55em] px-1.5 align-top break-words whitespace-pre-wrap [overflow-wrap:anywhere] [tab-size:4] ${tint}`}
    >
      <Tokens line={before} />
      {inside.length > 0 && (
        <span className={`rounded-sm ${STRONG[line.kind]}`}>
          <Tokens line={inside} />
        </span>
      )}
      <Tokens line={after} />
      {line.cr && line.kind !== "same" && (
        <span className="ml-1.5 font-sans text-xs text-soft select-none" title={t("cr")}>
          {t("crShort")}
        </span>
      )}
      {line.unended && <span className="ml-2 font-sans text-xs text-soft italic">{t("unended")}</span>}
    </td>
  );
}

function Below({ columns, children }: { columns: number; children: ReactNode }) {
  const shown = Array.isArray(children) ? children.some(Boolean) : Boolean(children);
  if (!shown) return null;
  return (
    <tr>
      <td colSpan={columns} className="bg-panel p-2 font-sans">
        {children}
      </td>
    </tr>
  );
}
