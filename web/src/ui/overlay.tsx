// What lies above the page: dialogs, side sheets, menus. What draws them is loaded when the first one is opened.
import { cloneElement, createElement, useState, type ComponentProps, type ReactElement } from "react";

import type { DialogProps } from "@/ui/dialog";
import { HoldsKeys, late, useLate } from "@/ui/late";
import type { MenuItemProps, MenuProps, SubMenuProps } from "@/ui/menus";

const dialogs = late(() => import("@/ui/dialog"));
const menus = late(() => import("@/ui/menus"));

export function Dialog(props: DialogProps) {
  const part = useLate(dialogs, props.open, props.onClose);
  if (part !== undefined) return createElement(part.Dialog, props);
  return props.open ? <HoldsKeys /> : null;
}

/** The button is there at once, and says that it has a menu. */
export function Menu(props: MenuProps) {
  const [by, setBy] = useState<Event | null>(null);
  const part = useLate(menus, by !== null || props.open === true, () => {
    setBy(null);
    props.onOpen?.(false);
  });
  if (part !== undefined) return createElement(part.Menu, { ...props, by });
  const soon = () => void menus.load().catch(() => undefined); // it is asked for again, and told, when it is opened
  const trigger = cloneElement(props.trigger as ReactElement<TriggerProps>, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: soon,
    onFocus: soon,
    onPointerDown: soon,
    onClick: (event) => setBy(opening(event.detail === 0 ? "Enter" : null)),
    onKeyDown: (event) => {
      if (event.key === "ArrowDown") setBy(opening("ArrowDown"));
    },
  });
  return (
    <>
      {trigger}
      {(by !== null || props.open === true) && <HoldsKeys />}
    </>
  );
}

type TriggerProps = ComponentProps<"button">;

/** What Radix opens a menu by: a key, or the pointer. */
function opening(key: string | null): Event {
  if (key !== null) return new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  return new PointerEvent("pointerdown", { button: 0, bubbles: true, cancelable: true, pointerType: "mouse" });
}

// The rest stands inside of a menu that is open.

export const MenuItem = (props: MenuItemProps) => inMenu((part) => createElement(part.MenuItem, props));

export const SubMenu = (props: SubMenuProps) => inMenu((part) => createElement(part.SubMenu, props));

export const MenuLine = () => inMenu((part) => createElement(part.MenuLine));

function inMenu(draw: (part: NonNullable<ReturnType<typeof menus.now>>) => ReactElement): ReactElement | null {
  const part = menus.now();
  return part === undefined ? null : draw(part);
}
