// What a form for new tasks keeps while it is written.
import type { Priority } from "@/api/model";

export interface NewTaskDraft {
  text: string;
  description: string;
  /** `auto`: the only agent that fits; empty: nobody. */
  who: string;
  priority: Priority;
  status: "todo" | "backlog";
  /** Another project than that where one was; empty: that one. */
  projectId: string;
}

export const EMPTY: NewTaskDraft = {
  text: "",
  description: "",
  who: "auto",
  priority: "medium",
  status: "todo",
  projectId: "",
};
