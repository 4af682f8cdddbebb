export { Story } from "./story";
