// Markdown as elements. Loaded with the first text that needs it: import `Prose`. A worker reads the text (parse.ts); what
// it finds is drawn here, each kind of element in its own way and any other not at all. HTML stays text, images are not
// loaded, and links lead only where `links.ts` allows.
import { toJsxRuntime, type Components } from "hast-util-to-jsx-runtime";
import { memo, useContext, useMemo, type ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

import { useAnswer } from "../background/background";
import { Code } from "../code/code";
import { Mentions } from "../mentions";
import { allowed, isHere } from "./links";
import { reader } from "./reader";
import { taskOf } from "./tasks";

interface MarkdownProps {
  text: string;
  /** Shown until the text has been read, and where it cannot be. */
  plain: ReactNode;
}

export default memo(function Markdown({ text, plain }: MarkdownProps) {
  const root = useAnswer(reader, text);
  return useMemo(
    () => (root === null ? plain : toJsxRuntime(root, { Fragment, jsx, jsxs, components: ELEMENTS, passNode: true })),
    [root, plain],
  );
});

const LINK = "link break-words";

function Anchor({ href: address = "", children }: { href?: string | undefined; children?: ReactNode }) {
  const mention = useContext(Mentions);
  const taskId = taskOf(address);
  if (mention !== null && taskId !== undefined && children === taskId) return <>{mention(taskId)}</>;
  const href = allowed(address);
  if (href === undefined) return <>{children}</>;
  if (isHere(href))
    return (
      <a href={href} rel="nofollow" className={LINK}>
        {children}
      </a>
    );
  return (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow" className={LINK}>
      {children}
    </a>
  );
}

/** Within a page that has headings of its own: never above its third level. */
const HEADINGS = {
  h1: ({ children }) => <h4 className="pt-1 text-[1.2em] font-semibold">{children}</h4>,
  h2: ({ children }) => <h4 className="pt-1 text-[1.1em] font-semibold">{children}</h4>,
  h3: ({ children }) => <h5 className="pt-1 font-semibold">{children}</h5>,
  h4: ({ children }) => <h6 className="font-semibold">{children}</h6>,
  h5: ({ children }) => <h6 className="font-medium">{children}</h6>,
  h6: ({ children }) => <h6 className="font-medium text-soft">{children}</h6>,
} satisfies Components;

function alignOf(value: unknown): "left" | "center" | "right" {
  return value === "center" || value === "right" ? value : "left";
}

const ELEMENTS: Components = {
  ...HEADINGS,
  a: ({ href, children }) => <Anchor href={href}>{children}</Anchor>,
  p: ({ children }) => (
    <p dir="auto" className="whitespace-pre-wrap">
      {children}
    </p>
  ),
  br: () => null, // the line break behind it is kept
  ul: ({ children, className }) => (
    <ul className={`space-y-0.5 ${className?.includes("task-list") ? "" : "list-disc pl-5"}`}>{children}</ul>
  ),
  ol: ({ children, start }) => (
    <ol start={start} className="list-decimal space-y-0.5 pl-6">
      {children}
    </ol>
  ),
  li: ({ children, className }) => (
    <li dir="auto" className={className?.includes("task-list") ? "list-none" : ""}>
      {children}
    </li>
  ),
  input: ({ checked }) => (
    <input
      type="checkbox"
      disabled
      className="mr-1.5 size-3.5 align-[-2px] accent-[var(--accent)]"
      checked={checked === true}
      readOnly
    />
  ),
  blockquote: ({ children }) => (
    <blockquote className="space-y-2 border-l-2 border-line-strong pl-3 text-soft">{children}</blockquote>
  ),
  hr: () => <hr className="border-line" />,
  img: ({ alt, src }) => <Anchor href={src}>{alt || src}</Anchor>,
  table: ({ children }) => (
    // A table may be wider than its place; who has no mouse scrolls it by keys.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div tabIndex={0} role="region" className="overflow-x-auto">
      <table className="border-collapse text-[0.95em]">{children}</table>
    </div>
  ),
  th: ({ children, node }) => (
    <th
      dir="auto"
      style={{ textAlign: alignOf(node?.properties.align) }}
      className="border border-line bg-sunken px-2 py-1 font-medium"
    >
      {children}
    </th>
  ),
  td: ({ children, node }) => (
    <td
      dir="auto"
      style={{ textAlign: alignOf(node?.properties.align) }}
      className="border border-line px-2 py-1 align-top"
    >
      {children}
    </td>
  ),
  pre: ({ node }) => {
    const [code] = node?.children ?? [];
    if (code?.type !== "element") return null;
    const [words] = code.children;
    const names = code.properties.className;
    const name = Array.isArray(names) ? names.find((each) => String(each).startsWith("language-")) : undefined;
    const language = typeof name === "string" ? name.slice("language-".length) : "";
    return <Code text={words?.type === "text" ? words.value.replace(/\n$/, "") : ""} language={language} />;
  },
  code: ({ children }) => (
    <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.92em] break-words">{children}</code>
  ),
};
