// The forms in which people answer agents: no first view needs them, so they are loaded when an agent asks.
import { withWords } from "@/i18n";
import { lateComponent } from "@/ui";

const part = () => withWords("questions", import("@/views/questions"));

export const QuestionForm = lateComponent(() => part().then((view) => view.QuestionForm), { beside: true });
export const TaskQuestions = lateComponent(() => part().then((view) => view.TaskQuestions), { beside: true });
