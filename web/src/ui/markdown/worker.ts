// Reads Markdown outside of the page's own thread.
import { parse } from "./parse";

addEventListener("message", ({ data }: MessageEvent<string>) => postMessage(parse(data)));
