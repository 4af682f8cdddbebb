export { QuestionForm } from "./form";
export { TaskQuestions } from "./task";
