// Asks for a reason or a message that goes with an action: loaded when something is first asked.
import { lateComponent } from "@/ui/late";

export const AskWords = lateComponent(() => import("@/ui/asking").then((part) => part.AskWords), {
  lost: ({ onClose }) => onClose(),
});
