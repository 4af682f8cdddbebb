export { Usage } from "./usage";
