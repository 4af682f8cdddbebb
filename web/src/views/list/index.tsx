export { List } from "./list";
