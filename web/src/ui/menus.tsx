// Menus: Radix sees to focus, keys but Escape, and screen readers.
import * as RadixMenu from "@radix-ui/react-dropdown-menu";
import { ChevronRight } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { EscapeCloses } from "@/ui/escape";
import { dispatch } from "@/ui/held-keys";

export interface MenuProps {
  trigger: ReactNode;
  align?: "start" | "end";
  /** Where something else opens it, too. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
  children: ReactNode;
}

/** What opened the menu before it was there, and opens it now. */
export interface Opening {
  by: Event | null;
}

export function Menu({ trigger, align = "end", open, onOpen, children, by }: MenuProps & Opening) {
  const button = useRef<HTMLButtonElement>(null);
  const opening = useRef(by);
  const [here, setHere] = useState(false);
  const [own, setOwn] = useState(false);
  const change = (next: boolean) => {
    setOwn(next);
    onOpen?.(next);
  };
  useEffect(() => {
    // Radix looks for keys from now on: by them it knows whether the first item gets the focus.
    if (opening.current === null) dispatch(document, new KeyboardEvent("keydown"));
    else if (button.current !== null) dispatch(button.current, opening.current);
    opening.current = null;
    // eslint-disable-next-line react-hooks/set-state-in-effect -- Radix listens only from here on
    setHere(true);
  }, []);
  return (
    <RadixMenu.Root open={(open ?? own) && here} onOpenChange={change}>
      <RadixMenu.Trigger ref={button} asChild>
        {trigger}
      </RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content
          align={align}
          sideOffset={6}
          className="z-50 min-w-44 rounded-lg border border-line bg-panel p-1 shadow-[var(--shadow)]"
        >
          <EscapeCloses onClose={() => change(false)} />
          {children}
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

export interface MenuItemProps {
  onSelect: () => void;
  disabled?: boolean;
  children: ReactNode;
}

export function MenuItem({ onSelect, disabled = false, children }: MenuItemProps) {
  return (
    <RadixMenu.Item
      onSelect={onSelect}
      disabled={disabled}
      className="flex cursor-pointer items-center gap-2 rounded px-2.5 py-1.5 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-sunken"
    >
      {children}
    </RadixMenu.Item>
  );
}

export interface SubMenuProps {
  label: ReactNode;
  children: ReactNode;
}

/** An item that opens a menu of its own. */
export function SubMenu({ label, children }: SubMenuProps) {
  return (
    <RadixMenu.Sub>
      <RadixMenu.SubTrigger className="flex cursor-pointer items-center gap-2 rounded px-2.5 py-1.5 outline-none data-[highlighted]:bg-sunken data-[state=open]:bg-sunken">
        {label}
        <ChevronRight size={14} className="ml-auto text-faint" aria-hidden />
      </RadixMenu.SubTrigger>
      <RadixMenu.Portal>
        <RadixMenu.SubContent className="z-50 max-h-80 min-w-44 overflow-auto rounded-lg border border-line bg-panel p-1 shadow-[var(--shadow)]">
          {children}
        </RadixMenu.SubContent>
      </RadixMenu.Portal>
    </RadixMenu.Sub>
  );
}

export const MenuLine = () => <RadixMenu.Separator className="my-1 h-px bg-line" />;
