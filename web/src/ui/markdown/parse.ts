// Markdown as a tree of elements: GFM, HTML as text, and nothing of an element but what is drawn. Runs in the worker.
import type { Element, ElementContent, Properties, Root, RootContent } from "hast";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";

import { endAddresses } from "./links";
import { linkTasks } from "./tasks";

/** A tree with more elements takes too long to draw. */
const MOST = 4_000;
const KEPT = ["align", "alt", "checked", "className", "href", "src", "start", "type"];

/** Of any other element only what is in it. */
const DRAWN = new Set(
  "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr img input li ol p pre strong table tbody td th thead tr ul".split(
    " ",
  ),
);

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm, { singleTilde: false })
  .use(endAddresses)
  .use(linkTasks)
  .use(remarkRehype, { allowDangerousHtml: true }); // it comes as a node of its own kind, which becomes text here

/** null: too much of it. */
export function parse(text: string): Root | null {
  const root = processor.runSync(processor.parse(text));
  const counted = { left: MOST };
  const children = cleaned(root.children, counted);
  return counted.left < 0 ? null : { type: "root", children: children as RootContent[] };
}

function cleaned(nodes: readonly (RootContent | ElementContent)[], counted: { left: number }): ElementContent[] {
  return nodes.flatMap((node): ElementContent[] => {
    if (node.type === "text" || (node.type as string) === "raw")
      return [{ type: "text", value: (node as { value: string }).value }];
    if (node.type !== "element" || counted.left-- < 0) return [];
    return DRAWN.has(node.tagName) ? [element(node, counted)] : cleaned(node.children, counted);
  });
}

function element(node: Element, counted: { left: number }): Element {
  const { tagName, properties } = node;
  const kept: Properties = {};
  for (const name of KEPT) if (properties[name] !== undefined) kept[name] = properties[name];
  return { type: "element", tagName, properties: kept, children: cleaned(node.children, counted) };
}
