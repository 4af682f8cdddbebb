export { Settings } from "./settings";
export { NewAgent } from "./new-agent";
