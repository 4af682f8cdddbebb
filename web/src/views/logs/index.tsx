export { Logs } from "./logs";
