export { SharedState } from "./state";
