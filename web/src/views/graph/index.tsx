export { Graph } from "./graph";
