export { Review } from "./review";
export { Reviews } from "./reviews";
export { Together } from "./together";
