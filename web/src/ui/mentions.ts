// How a task that a text names by its id is drawn: what tells its status and title reads them from the server, so the
// frame brings it.
import { createContext, type ReactNode } from "react";

/** The id of a task where it stands in a text. */
export const TASK_ID = /(?<![\w/])tsk_[0-9a-z]{8,}(?![\w/])/g;

export const Mentions = createContext<((taskId: string) => ReactNode) | null>(null);

/** What is known of titles where nothing can be drawn but text. */
export const Titles = createContext<(taskId: string) => string | undefined>(() => undefined);
