// Acceptance checks: what must hold before success counts, and how each ended, with what its command printed.
import {
  CircleAlert,
  CircleCheck,
  CircleX,
  FileDiff,
  FileText,
  RefreshCw,
  Terminal,
  UserCheck,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";

import type { Task } from "@/api/model";
import { Artifacts, type LeftFile } from "@/ui/artifacts";
import { visible } from "@/ui/visible";

type Declared = Task["acceptance"][number];
type Result = Task["check_results"][number];

/** The sentences beside a result; each view says them from its own words. */
export interface CheckWords {
  outcome: (result: Result) => string;
  output: string;
  leftOut: string;
  size: (bytes: number) => string;
}

const LOOKS: Record<Result["outcome"], { icon: LucideIcon; tone: string }> = {
  passed: { icon: CircleCheck, tone: "text-green" },
  failed: { icon: CircleX, tone: "text-red" },
  flaky: { icon: RefreshCw, tone: "text-amber" },
  error: { icon: CircleAlert, tone: "text-amber" },
};

interface ChecksProps {
  task: Task;
  words: CheckWords;
  /** What stands beside each file that a check has left. */
  besideFile?: ((file: LeftFile) => ReactNode) | undefined;
}

export function Checks({ task, words, besideFile }: ChecksProps) {
  const unable = task.checks === "in_review" && task.check_results.some((each) => each.outcome === "error");
  const ended = task.checks === "passed" || task.checks === "failed" || unable;
  const told = ended && task.check_results.length > 0;
  const byHand = task.check_failures.filter((each) => !task.check_results.some((one) => one.check === each.check));
  return (
    <ul className="space-y-1.5">
      {told
        ? task.check_results.map((each, place) => (
            <Ended key={place} task={task.task_id} result={each} words={words} besideFile={besideFile} />
          ))
        : [...task.required_checks, ...task.acceptance].map((each, place) => (
            <Before
              key={place}
              check={each}
              passed={task.checks === "passed" || (task.checks === "in_review" && each.review === undefined)}
            />
          ))}
      {task.checks === "failed" &&
        byHand.map((each) => (
          <li key={each.check} className="text-xs break-words whitespace-pre-wrap text-red">
            {each.check}: {each.message}
          </li>
        ))}
    </ul>
  );
}

/** How checks ended, without the task that they belong to. */
export function CheckResults({ results, words }: { results: readonly Result[]; words: CheckWords }) {
  return (
    <ul className="space-y-1.5">
      {results.map((each, place) => (
        <Ended key={place} result={each} words={words} />
      ))}
    </ul>
  );
}

const KINDS = [
  ["review", UserCheck],
  ["diff", FileDiff],
  ["file", FileText],
] as const;

function Before({ check, passed }: { check: Declared; passed: boolean }) {
  const kind = KINDS.find(([name]) => check[name] !== undefined)?.[1] ?? Terminal;
  const Icon = passed ? CircleCheck : kind;
  return (
    <li className="flex gap-1.5">
      <Icon size={15} className={`mt-0.5 shrink-0 ${passed ? "text-green" : "text-faint"}`} aria-hidden />
      <code className="min-w-0 font-mono text-xs wrap-anywhere">{wordsOf(check)}</code>
    </li>
  );
}

interface EndedProps {
  /** Without: of the merge queue, whose checks leave no files. */
  task?: string;
  result: Result;
  words: CheckWords;
  besideFile?: ChecksProps["besideFile"];
}

function Ended({ task, result, words, besideFile }: EndedProps) {
  const { icon: Icon, tone } = LOOKS[result.outcome];
  return (
    <li className="flex gap-1.5">
      <Icon size={15} className={`mt-0.5 shrink-0 ${tone}`} aria-hidden />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <code className="min-w-0 font-mono text-xs wrap-anywhere">{result.check}</code>
          <span className="text-xs text-faint">{words.outcome(result)}</span>
        </div>
        {result.output !== "" && (
          <details open={result.outcome === "failed" || result.outcome === "error"}>
            <summary className="cursor-pointer py-0.5 text-xs text-soft max-sm:py-2.5">{words.output}</summary>
            <pre className="mt-1 max-h-64 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap">
              {visible(result.output)}
            </pre>
          </details>
        )}
        {task !== undefined && result.artifacts !== undefined && (
          <Artifacts task={task} files={result.artifacts} size={words.size} aside={besideFile} />
        )}
        {result.left_out !== undefined && (
          <details>
            <summary className="cursor-pointer py-0.5 text-xs text-soft max-sm:py-2.5">{words.leftOut}</summary>
            <ul className="mt-1 list-disc pl-4 text-xs text-soft">
              {result.left_out.map((each, place) => (
                <li key={place} className="break-words">
                  {visible(each)}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}

function wordsOf({ file, command, diff, review }: Declared): string {
  if (review !== undefined)
    return [review.by === undefined ? "review" : `review by ${review.by}`, review.rubric].filter(Boolean).join(": ");
  if (diff !== undefined) return JSON.stringify({ diff });
  return file ?? (Array.isArray(command) ? command.join(" ") : (command ?? ""));
}

export const hasChecks = (task: Task) => task.acceptance.length + task.required_checks.length > 0;
