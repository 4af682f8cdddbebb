export { Team } from "./team";
