export { Review } from "./review";
