export { Review } from "./review";
export { Reviews } from "./reviews";
