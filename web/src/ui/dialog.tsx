// Dialogs and side sheets: Radix sees to focus and screen readers.
import * as RadixDialog from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import { useRef, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui/button";
import { EscapeCloses } from "@/ui/escape";

export interface DialogProps {
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
  const before = useRef<Element | null>(null);
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
            before.current = document.activeElement;
            const content = event.currentTarget as HTMLElement;
            const field = side ? null : content.querySelector<HTMLElement>("[data-body] :is(input, textarea, select)");
            (field ?? content).focus(); // a form is for writing, a sheet for reading
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            goBack(before.current); // where one was: there is no button that Radix would know of
          }}
          onInteractOutside={(event) => {
            // A toast lies over the dialog: taking something back there does not close what stands below.
            if (event.target instanceof Element && event.target.closest("[data-toasts]") !== null)
              event.preventDefault();
          }}
        >
          <EscapeCloses onClose={onClose} />
          <div className="flex items-center justify-between gap-3 border-b border-line px-5 py-3">
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
          </div>
          <div data-body className="min-h-0 flex-1 overflow-auto p-5">
            {children}
          </div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** A card may have been drawn again meanwhile: the one of the same task is meant. */
function goBack(where: Element | null): void {
  if (where instanceof HTMLElement && where.isConnected) return where.focus();
  const card = where instanceof HTMLElement ? where.dataset.card : undefined;
  if (card !== undefined) document.querySelector<HTMLElement>(`[data-card="${CSS.escape(card)}"]`)?.focus();
}
