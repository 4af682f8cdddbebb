// What an address may say besides its path, and saying it where one is.
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Which task is open, what is searched, how it is shown. */
export interface Search {
  task?: string;
  agent?: string;
  launch?: string;
  tab?: string;
  q?: string;
  by?: string;
  /** Tasks that are reviewed together, with a comma between them. */
  tasks?: string;
  /** These alone, without their subtasks. */
  only?: string;
  /** The request whose tree is shown: its correlation id, or the id of one of its tasks. */
  trace?: string;
  /** The instant that is looked at; none: now. */
  at?: string;
  /** A place in a log: a line (`L12`), or the instant of what was printed. */
  pos?: string;
}

const NAMES = ["task", "agent", "launch", "tab", "q", "by", "tasks", "only", "trace", "at", "pos"] as const;

export function validateSearch(given: Record<string, unknown>): Search {
  const said: Search = {};
  for (const name of NAMES) if (typeof given[name] === "string") said[name] = given[name];
  return said;
}

type Said = { [Name in keyof Search]: Search[Name] | undefined };

/** Changes these words of the address and leaves the others; undefined takes one out. */
export function useSay(): (said: Said, how?: { replace: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (said, { replace } = { replace: false }) =>
      void navigate({
        to: ".",
        replace,
        search: (before) => validateSearch({ ...before, ...said }), // which leaves out what is no word
      }),
    [navigate],
  );
}
