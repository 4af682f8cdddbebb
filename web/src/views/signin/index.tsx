export { SignIn } from "./signin";
