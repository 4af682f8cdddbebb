// A log as a conversation (transcript.tsx). Not among the parts of every page: only views with logs load it.
export { Reader, type Call, type Filter, type Item, type PieceTime } from "./lines";
export { uncontrolled } from "./ansi";
export { Transcript } from "./transcript";
