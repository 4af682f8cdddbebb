// What lies above the page: dialogs, side sheets, menus, hints. Radix sees to focus, Escape and screen readers.
import * as RadixDialog from "@radix-ui/react-dialog";
import * as RadixMenu from "@radix-ui/react-dropdown-menu";
import * as RadixTooltip from "@radix-ui/react-tooltip";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { IconButton } from "@/ui/button";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  side?: boolean;
  wide?: boolean;
  /** What stands beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}

export function Dialog({
  open,
  onClose,
  title,
  description,
  side = false,
  wide = false,
  aside,
  children,
}: DialogProps) {
  const { t } = useTranslation();
  const place = side
    ? `right-0 top-0 h-dvh w-full rounded-none border-l ${wide ? "max-w-2xl" : "max-w-xl"}`
    : `left-1/2 top-[12vh] max-h-[76vh] w-[calc(100vw-2rem)] -translate-x-1/2 rounded-xl border ${wide ? "max-w-3xl" : "max-w-lg"}`;
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <RadixDialog.Content
          className={`fixed z-50 flex flex-col overflow-hidden border-line bg-panel shadow-[var(--shadow)] outline-none ${place}`}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            const content = event.currentTarget as HTMLElement;
            const field = side ? null : content.querySelector<HTMLElement>("[data-body] :is(input, textarea, select)");
            (field ?? content).focus(); // a form is for writing, a sheet for reading
          }}
          onInteractOutside={(event) => {
            // A toast lies over the dialog: taking something back there does not close what stands below.
            if (event.target instanceof Element && event.target.closest("[data-toasts]") !== null)
              event.preventDefault();
          }}
          onEscapeKeyDown={(event) => {
            // A field that is being edited takes Escape for itself (`data-escape="own"`).
            if (event.target instanceof HTMLElement && event.target.dataset.escape === "own") event.preventDefault();
          }}
        >
          <header className="flex items-center justify-between gap-3 border-b border-line px-5 py-3">
            <div>
              <RadixDialog.Title className="text-[15px] font-semibold">{title}</RadixDialog.Title>
              {description !== undefined && (
                <RadixDialog.Description className="text-soft">{description}</RadixDialog.Description>
              )}
            </div>
            <div className="ml-auto flex items-center gap-1">
              {aside}
              <RadixDialog.Close asChild>
                <IconButton label={t("app.close")}>
                  <X size={16} />
                </IconButton>
              </RadixDialog.Close>
            </div>
          </header>
          <div data-body className="min-h-0 flex-1 overflow-auto p-5">
            {children}
          </div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <RadixMenu.Root>
      <RadixMenu.Trigger asChild>{trigger}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content
          align="end"
          sideOffset={6}
          className="z-50 min-w-44 rounded-lg border border-line bg-panel p-1 shadow-[var(--shadow)]"
        >
          {children}
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

export function MenuItem({
  onSelect,
  disabled = false,
  children,
}: {
  onSelect: () => void;
  disabled?: boolean;
  children: ReactNode;
}) {
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

export const MenuLine = () => <RadixMenu.Separator className="my-1 h-px bg-line" />;

export function Hint({ text, children }: { text: string; children: ReactNode }) {
  return (
    <RadixTooltip.Provider delayDuration={250}>
      <RadixTooltip.Root>
        <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
        <RadixTooltip.Portal>
          <RadixTooltip.Content
            sideOffset={6}
            className="z-50 max-w-xs rounded-md bg-ink px-2.5 py-1.5 text-xs text-paper shadow-[var(--shadow)]"
          >
            {text}
          </RadixTooltip.Content>
        </RadixTooltip.Portal>
      </RadixTooltip.Root>
    </RadixTooltip.Provider>
  );
}
