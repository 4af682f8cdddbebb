// The bar above every view: its name, and its tools beside.
import type { ReactNode } from "react";
import { useSyncExternalStore } from "react";
import { createPortal } from "react-dom";

const never = () => () => undefined;

export function Bar({ title, children }: { title: string; children?: ReactNode }) {
  const place = useSyncExternalStore(never, () => document.getElementById("bar"));
  if (place === null) return null;
  return createPortal(
    <div className="flex min-w-0 items-center gap-3">
      <h1 className="truncate text-[15px] font-semibold">{title}</h1>
      {children}
    </div>,
    place,
  );
}
