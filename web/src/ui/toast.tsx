// Short words at the edge: what was done (and how to undo it), or what was refused and why. Their place is always there
// and a live region: so a dialog that hides the page behind it from screen readers leaves it out.
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";

import { wordsOf } from "@/ui/feedback";
import { Button, IconButton } from "@/ui/button";

interface Toast {
  id: number;
  kind: "done" | "failed";
  what: string;
  next: string;
  undo: (() => void) | null;
}

interface Toasts {
  done: (what: string, undo?: () => void) => void;
  failed: (error: unknown) => void;
}

const Context = createContext<Toasts | null>(null);
const STAYS_MS = 6000;

export function useToast(): Toasts {
  const found = useContext(Context);
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
      done: (what, undo) => add({ kind: "done", what, next: "", undo: undo ?? null }),
      failed: (error) => add({ kind: "failed", ...wordsOf(error, t("error.away")), undo: null }),
    }),
    [add, t],
  );

  return (
    <Context.Provider value={toasts}>
      {children}
      {createPortal(
        <div
          data-toasts
          aria-live="off" // each says by its role how urgent it is
          className="pointer-events-none fixed right-4 bottom-4 z-[60] flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2"
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
                <p className="font-medium break-words">{each.what}</p>
                {each.next && <p className="break-words text-soft">{each.next}</p>}
              </div>
              {each.undo !== null && (
                <Button
                  small
                  onClick={() => {
                    each.undo?.();
                    drop(each.id);
                  }}
                >
                  {t("app.undo")}
                </Button>
              )}
              <IconButton label={t("app.close")} className="size-6" onClick={() => drop(each.id)}>
                <X size={14} />
              </IconButton>
            </div>
          ))}
        </div>,
        document.body,
      )}
    </Context.Provider>
  );
}
