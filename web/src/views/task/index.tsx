export { TaskPage, TaskSheet } from "./task";
export { QuestionForm } from "@/views/task/question-form";
