// The form in which people answer agents: it comes with the page of a task, and no first view needs it.
import { withWords } from "@/i18n";
import { lateComponent } from "@/ui";

export const QuestionForm = lateComponent(
  () => withWords("task audit home", import("@/views/task")).then((view) => view.QuestionForm),
  { beside: true },
);
