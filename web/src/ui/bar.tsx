// The bar above every view: its name, and its tools beside. The frame reads the name for the title of the page.
import { useLayoutEffect, useSyncExternalStore, type ReactNode } from "react";
import { createPortal } from "react-dom";

const never = () => () => undefined;
let shown = "";
const listeners = new Set<() => void>();

function say(title: string): void {
  shown = title;
  for (const each of listeners) each();
}

/** What the view that is shown calls itself; empty while it is loaded. */
export function useBarTitle(): string {
  return useSyncExternalStore(
    (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    () => shown,
  );
}

/** `name`: what the page is called, where the bar says less. */
export function Bar({ title, name = title, children }: { title: string; name?: string; children?: ReactNode }) {
  const place = useSyncExternalStore(never, () => document.getElementById("bar"));
  useLayoutEffect(() => {
    say(name);
    return () => say("");
  }, [name]);
  if (place === null) return null;
  return createPortal(
    <div className="flex min-w-0 items-center gap-3">
      <h1 className="truncate text-[15px] font-semibold">{title}</h1>
      {children}
    </div>,
    place,
  );
}
