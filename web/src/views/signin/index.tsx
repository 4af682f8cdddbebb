export { Prove } from "./prove";
export { SignIn } from "./signin";
