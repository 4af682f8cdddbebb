// The menu of a phone: it lies over the page until one has chosen, taps beside it, or presses Escape.
import * as RadixDialog from "@radix-ui/react-dialog";
import type { ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { EscapeCloses } from "@/ui";

export function PhoneMenu({ close, children }: { close: () => void; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <RadixDialog.Root open onOpenChange={(next) => !next && close()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-black/35 md:hidden" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 flex w-60 flex-col border-r border-line bg-sunken shadow-[var(--shadow)] outline-none md:hidden"
        >
          <EscapeCloses onClose={close} />
          <RadixDialog.Title className="sr-only">{t("app.menu")}</RadixDialog.Title>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
