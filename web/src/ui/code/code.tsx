// A block of code: plain at once, in colours as soon as it is seen and the worker has answered.
import { memo, useEffect, useRef, useState } from "react";

import { useTokens } from "./highlighter";
import { languageOf } from "./languages";
import type { Token } from "./tokens";

export function Code({ text, language = "", className = "" }: { text: string; language?: string; className?: string }) {
  const box = useRef<HTMLPreElement>(null);
  const seen = useSeen(box);
  const lines = useTokens(text, languageOf(language), seen);
  return (
    <pre
      ref={box}
      dir="ltr"
      data-language={language}
      // Code may be wider than its place; who has no mouse scrolls it by keys.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={`max-h-[60vh] overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-[13px] leading-relaxed text-ink ${className}`}
    >
      <code>
        {lines === null
          ? text
          : lines.map((line, place) => (
              <span key={place}>
                {place > 0 && "\n"}
                <Tokens line={line} />
              </span>
            ))}
      </code>
    </pre>
  );
}

/** A line in colours; the colours are those of theme.css. */
export const Tokens = memo(function Tokens({ line }: { line: readonly Token[] }) {
  return line.map(([text, kind], place) =>
    kind === "" ? (
      text
    ) : (
      <span key={place} data-token={kind}>
        {text}
      </span>
    ),
  );
});

/** Whether an element has come into view, or nearly. */
export function useSeen(box: { readonly current: Element | null }): boolean {
  const [seen, setSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    if (seen || box.current === null) return;
    const eye = new IntersectionObserver((found) => found.some((each) => each.isIntersecting) && setSeen(true), {
      rootMargin: "300px",
    });
    eye.observe(box.current);
    return () => eye.disconnect();
  }, [seen, box]);
  return seen;
}
