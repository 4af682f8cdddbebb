// Asks before what cannot be taken back: loaded when something is first asked.
import type { ConfirmProps } from "@/ui/confirming";
import { lateComponent } from "@/ui/late";

const Dialog = lateComponent(() => import("@/ui/confirming").then((part) => part.ConfirmDialog), {
  lost: ({ onClose }) => onClose(),
});

export function Confirm({ open, ...asked }: ConfirmProps & { open: boolean }) {
  return open ? <Dialog {...asked} /> : null;
}
