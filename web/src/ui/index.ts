// The parts every view is made of. A view imports from here and nothing from another view.
export * from "./amounts";
export * from "./askwords";
export * from "./bar";
export * from "./button";
export * from "./bytes";
export * from "./copy";
export * from "./decision";
export * from "./feedback";
export * from "./form";
export * from "./marks";
export * from "./overlay";
export * from "./prose";
export * from "./time";
export * from "./toast";
export * from "./trying";
export * from "./visible";
