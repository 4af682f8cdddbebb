export { TaskPage, TaskSheet } from "./task";
