// Drafts: what is half written outlives the form it was written in.
export * from "./line";
export * from "./store";
export * from "./use-draft";
