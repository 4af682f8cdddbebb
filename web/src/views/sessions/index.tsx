export { Sessions } from "./sessions";
