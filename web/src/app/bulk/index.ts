// Many tasks at once: marking them, and what is then done with all of them.
export { Bulk } from "./bulk";
export { useMarks, type Marks } from "./use-marks";
