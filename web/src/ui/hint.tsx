// A hint beside what one points at or has the focus on.
import * as RadixTooltip from "@radix-ui/react-tooltip";
import type { ReactNode } from "react";

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

/** More than words about what the pointer, or the focus, is on: what can be done there is done elsewhere. */
export function HoverCard({ label, card, children }: { label: string; card: ReactNode; children: ReactNode }) {
  return (
    <RadixTooltip.Provider delayDuration={250}>
      <RadixTooltip.Root>
        <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
        <RadixTooltip.Portal>
          <RadixTooltip.Content
            aria-label={label}
            sideOffset={6}
            collisionPadding={8}
            className="z-50 w-72 rounded-lg border border-line-strong bg-panel p-3 text-[13px] text-ink shadow-[var(--shadow)]"
          >
            {card}
          </RadixTooltip.Content>
        </RadixTooltip.Portal>
      </RadixTooltip.Root>
    </RadixTooltip.Provider>
  );
}
