export { Board } from "./board";
