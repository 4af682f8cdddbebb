// What agents and people write: Markdown, drawn as elements and never as HTML. What has no mark in it is shown as it is;
// the first text with one loads the rest (markdown/), and is shown as plain text until then. So is what is too long or
// nested too deeply to be drawn in no time.
import { Component, Suspense, lazy, useMemo, type ReactNode } from "react";

import { isDrawable, isMarked } from "./markdown/bounds";

const Markdown = lazy(() => import("./markdown/markdown"));

interface ProseProps {
  text: string;
  className?: string;
}

export function Prose({ text, className = "" }: ProseProps) {
  const plain = useMemo(() => <Plain text={text} />, [text]);
  return (
    <div className={`space-y-2 break-words ${className}`}>
      {isMarked(text) && isDrawable(text) ? (
        <Otherwise shown={plain}>
          <Suspense fallback={plain}>
            <Markdown text={text} plain={plain} />
          </Suspense>
        </Otherwise>
      ) : (
        plain
      )}
    </div>
  );
}

function Plain({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap">
      {text.replace(/^\n+/, "").trimEnd()}
    </p>
  );
}

/** What could not be loaded or drawn is shown as plain text. */
class Otherwise extends Component<{ shown: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.shown : this.props.children;
  }
}
