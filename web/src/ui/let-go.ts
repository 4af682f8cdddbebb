// Whether the pointer is pressed: what is drawn again between press and release would lose the click.
import { useEffect, useState } from "react";

let pressed = false;
const heard = { capture: true, passive: true };
window.addEventListener("pointerdown", () => (pressed = true), heard);
for (const end of ["pointerup", "pointercancel", "dragend", "blur"])
  window.addEventListener(end, () => (pressed = false), heard);

/** What has come, but not while the pointer is pressed: then once it is let go, after the click. */
export function useLetGo<Part>(come: Part | undefined): Part | undefined {
  const [taken, take] = useState(() => come);
  useEffect(() => {
    if (come === undefined || taken !== undefined) return;
    const soon = () => void (timer = window.setTimeout(() => !pressed && take(() => come)));
    let timer = 0;
    soon();
    window.addEventListener("pointerup", soon);
    window.addEventListener("pointercancel", soon);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("pointerup", soon);
      window.removeEventListener("pointercancel", soon);
    };
  }, [come, taken]);
  return taken;
}
