export { Audit } from "./audit";
