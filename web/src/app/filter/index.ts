// One language of filters for every view.
export * from "./filter-bar";
export * from "./task-facets";
