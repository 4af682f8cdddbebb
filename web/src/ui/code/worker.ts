// Finds keywords, strings … of code, outside of the page's own thread.
import { tokensOf } from "./tokens";

addEventListener("message", ({ data }: MessageEvent<string>) => postMessage(tokensOf(data)));
