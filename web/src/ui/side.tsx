// A panel beside the view: it covers nothing, and nothing waits for it. How wide it is, is kept in this browser.
import { X } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";

import { useTranslation } from "@/i18n/use-words";
import { IconButton } from "@/ui/button";

const KEPT = "toryo.side";
const [LEAST, USUAL, STEP] = [360, 500, 24];

interface SidePanelProps {
  title: string;
  aside?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

export function SidePanel({ title, aside, onClose, children }: SidePanelProps) {
  const { t } = useTranslation();
  const panel = useRef<HTMLElement>(null);
  const [width, setWidth] = useWidth();
  useEffect(() => {
    // Who was nowhere is led here; who walks through cards goes on walking.
    if (document.activeElement === null || document.activeElement === document.body) panel.current?.focus();
  }, []);
  return (
    <section
      ref={panel}
      role="dialog"
      aria-modal={false}
      aria-label={title}
      data-beside
      tabIndex={-1}
      style={{ width }}
      className="relative flex max-w-[60vw] shrink-0 flex-col border-l border-line bg-panel outline-none"
    >
      <Edge width={width} onWidth={setWidth} />
      <div className="flex h-12 shrink-0 items-center justify-between gap-3 border-b border-line px-5">
        <h2 className="text-[15px] font-semibold">{title}</h2>
        <div className="ml-auto flex items-center gap-1">
          {aside}
          <IconButton label={t("app.close")} onClick={onClose}>
            <X size={16} />
          </IconButton>
        </div>
      </div>
      <div data-body className="min-h-0 flex-1 overflow-auto p-5">
        {children}
      </div>
    </section>
  );
}

/** Dragged, or moved by the arrow keys. */
function Edge({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const { t } = useTranslation();
  const dragged = (event: PointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) onWidth(window.innerWidth - event.clientX);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
    if (step === 0) return;
    event.preventDefault();
    onWidth(width + step);
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator with a value is a control
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={t("app.width")}
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={most()}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={dragged}
      onKeyDown={pressed}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent/30 focus-visible:bg-accent/50"
    />
  );
}

const most = () => Math.round(window.innerWidth * 0.6);

function useWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => {
    const kept = Number(localStorage.getItem(KEPT));
    return kept >= LEAST ? kept : USUAL;
  });
  return [
    width,
    (wanted) => {
      const next = Math.round(Math.min(most(), Math.max(LEAST, wanted)));
      localStorage.setItem(KEPT, String(next));
      setWidth(next);
    },
  ];
}
