// What a comment says: its words, and each suggestion as a small diff of the lines it is about.
import { Prose } from "@/ui";
import { partsOf } from "@/views/review/suggestion";

export function Said({ text, quote }: { text: string; quote: string }) {
  const parts = partsOf(text);
  const suggests = parts.some((each) => each.kind === "suggestion");
  return (
    <div className="space-y-1.5">
      {!suggests && (
        <code className="line-clamp-3 block font-mono text-[13px] whitespace-pre-wrap text-soft">{quote}</code>
      )}
      {parts.map((each, place) =>
        each.kind === "words" ? (
          <Prose key={place} text={each.text} />
        ) : (
          <Change key={place} from={quote.split("\n")} to={each.lines} />
        ),
      )}
    </div>
  );
}

function Change({ from, to }: { from: readonly string[]; to: readonly string[] }) {
  const rows = [
    ...from.map((text) => ({ sign: "-", text, tint: "bg-red-soft" })),
    ...to.map((text) => ({ sign: "+", text, tint: "bg-green-soft" })),
  ];
  return (
    <pre className="overflow-x-auto rounded-md border border-line bg-panel py-1 font-mono text-[12.5px] leading-[1.55]">
      {rows.map(({ sign, text, tint }, place) => (
        <div key={place} className={`px-2 ${tint}`}>
          <span className="text-soft select-none">{sign} </span>
          {text}
        </div>
      ))}
    </pre>
  );
}
