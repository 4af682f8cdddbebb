// Short words at the edge: what was done (and how to undo it), or what was refused and why. Their place is always there
// and a live region: so a dialog that hides the page behind it from screen readers leaves it out.
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";

import { useTranslation } from "@/i18n/use-words";
import { wordsOf } from "@/ui/feedback";
import { Button, IconButton } from "@/ui/button";
import { Told } from "@/ui/told";

interface Toast {
  id: number;
  kind: "done" | "failed";
  what: string;
  next: string;
  undo: (() => void) | null;
  /** Leads to what was made. */
  open: (() => void) | null;
}

interface More {
  next?: string;
  open?: () => void;
}

interface Toasts {
  done: (what: string, undo?: () => void, more?: More) => void;
  failed: (error: unknown) => void;
}

export const ToastContext = createContext<Toasts | null>(null);
const STAYS_MS = 6000;

export function useToast(): Toasts {
  const found = useContext(ToastContext);
  if (found === null) throw new Error("useToast stands outside of ToastProvider");
  return found;
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState<Toast[]>([]);
  const next = useRef(0);

  const drop = useCallback((id: number) => setShown((all) => all.filter((each) => each.id !== id)), []);
  const add = useCallback(
    (toast: Omit<Toast, "id">) => {
      const id = next.current++;
      setShown((all) => [...all.slice(-3), { ...toast, id }]);
      window.setTimeout(() => drop(id), toast.kind === "failed" ? STAYS_MS * 2 : STAYS_MS);
    },
    [drop],
  );
  const toasts = useMemo<Toasts>(
    () => ({
      done: (what, undo, { next = "", open } = {}) =>
        add({ kind: "done", what, next, undo: undo ?? null, open: open ?? null }),
      failed: (error) =>
        add({ kind: "failed", ...wordsOf(error, t("error.away"), t("error.awaySent")), undo: null, open: null }),
    }),
    [add, t],
  );

  return (
    <ToastContext.Provider value={toasts}>
      {children}
      {createPortal(
        <div
          data-toasts
          aria-live="off" // each says by its role how urgent it is
          // at the left: what a sheet saves or archives with stands at the right; on a phone, at its bottom
          className="pointer-events-none fixed top-14 left-4 z-[60] flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2 md:top-auto md:bottom-4"
        >
          {shown.map((each) => (
            <div
              key={each.id}
              role={each.kind === "failed" ? "alert" : "status"}
              className="pointer-events-auto flex items-start gap-2 rounded-lg border border-line bg-panel p-3 shadow-[var(--shadow)]"
            >
              {each.kind === "failed" ? (
                <CircleAlert size={18} className="mt-0.5 shrink-0 text-red" aria-hidden />
              ) : (
                <CircleCheck size={18} className="mt-0.5 shrink-0 text-green" aria-hidden />
              )}
              <div className="min-w-0 flex-1">
                <p className="font-medium break-words">
                  <Told text={each.what} />
                </p>
                {each.next && (
                  <p className="break-words text-soft">
                    <Told text={each.next} />
                  </p>
                )}
              </div>
              {(["open", "undo"] as const).map(
                (name) =>
                  each[name] !== null && (
                    <Button
                      key={name}
                      small
                      onClick={() => {
                        each[name]?.();
                        drop(each.id);
                      }}
                    >
                      {t(`app.${name}`)}
                    </Button>
                  ),
              )}
              <IconButton label={t("app.close")} small onClick={() => drop(each.id)}>
                <X size={14} />
              </IconButton>
            </div>
          ))}
        </div>,
        document.body,
      )}
    </ToastContext.Provider>
  );
}
