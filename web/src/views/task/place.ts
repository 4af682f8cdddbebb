/** Where a task is shown: over a view (a dialog), beside it, or as a page of its own. */
export type Place = "over" | "beside" | "page";
