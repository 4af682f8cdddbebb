// Where a link may lead, and where an address that stands in a text ends.
import type { Link, Nodes, Root } from "mdast";

/** http, https, mailto, and pages of this dashboard; anything else leads nowhere, and nothing to its door: a link of an
 * agent must not sign anybody in. */
export function allowed(address: string): string | undefined {
  if (isHere(address)) return address;
  try {
    const { protocol, host, pathname } = new URL(address);
    if (host === location.host && startsWith(pathname, "sign-in")) return undefined;
    return ["http:", "https:", "mailto:"].includes(protocol) ? address : undefined;
  } catch {
    return undefined;
  }
}

/** A page of this dashboard: no other host, no request to the server, and not the door. */
export function isHere(address: string): boolean {
  if (!/^\/(?![/\\])[^\s\\]*$/.test(address)) return false;
  const { pathname } = new URL(address, "http://here");
  return !["api", "mcp", "health", "hooks", "sign-in"].some((each) => startsWith(pathname, each));
}

/** As the router reads a path. */
function startsWith(path: string, first: string): boolean {
  let read = path;
  try {
    read = decodeURIComponent(path);
  } catch {
    // as it stands
  }
  return read.toLowerCase().split("/").find(Boolean) === first;
}

/** Full stops and brackets of Japanese, which no address holds unescaped. */
const ENDS = /[、。，．）（」「』『】【〉〈》《！？：；\u3000]/;

/** An address that was written without marks ends before the full stop or bracket of the text around it. */
export function endAddresses() {
  return (tree: Root) => within(tree);
}

function within(node: Nodes): void {
  if (!("children" in node)) return;
  (node.children as Nodes[]) = node.children.flatMap((child) => {
    within(child);
    return child.type === "link" ? split(child) : [child];
  });
}

function split(link: Link): Nodes[] {
  const [words] = link.children;
  if (link.children.length !== 1 || words?.type !== "text" || !link.url.endsWith(words.value)) return [link];
  const at = words.value.search(ENDS);
  if (at <= 0) return [link];
  const rest = words.value.slice(at);
  const url = link.url.slice(0, link.url.length - rest.length);
  return [
    { ...link, url, children: [{ type: "text", value: words.value.slice(0, at) }] },
    { type: "text", value: rest },
  ];
}
