// Buttons: one primary action per place; the rest is quiet.
import type { ButtonHTMLAttributes, ReactNode } from "react";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-accent-ink hover:brightness-110 border-transparent",
  plain: "bg-panel text-ink border-line-strong hover:bg-sunken",
  quiet: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
  danger: "bg-panel text-red border-red hover:bg-red-soft",
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  /** Whose words may need more than one line. */
  wraps?: boolean;
}

export function Button({ look = "plain", small = false, wraps = false, className = "", ...rest }: ButtonProps) {
  const height = small ? "h-7 px-2 text-[13px]" : "h-9 px-3 text-sm";
  const size = wraps
    ? "min-h-10 px-3 py-1.5 text-left text-sm break-words sm:min-h-8"
    : `justify-center whitespace-nowrap ${height}`;
  return (
    <button
      type="button"
      className={`inline-flex items-center gap-1.5 rounded-md border font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-50 ${size} ${LOOKS[look]} ${className}`}
      {...rest}
    />
  );
}

/** Larger for a finger, and as high as before for the line that it stands in. */
const SMALL = "size-7 max-sm:-my-1 max-sm:size-9";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  /** Beside a line of text. */
  small?: boolean;
  children: ReactNode;
}

/** An icon that is a button: its name is said to who cannot see it, and shown as a hint. */
export function IconButton({ label, small = false, children, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex items-center justify-center rounded-md text-soft transition-colors hover:bg-sunken hover:text-ink disabled:opacity-50 ${small ? SMALL : "size-9"} ${className}`}
      {...rest}
    >
      {children}
    </button>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="rounded border border-line-strong bg-sunken px-1.5 py-0.5 font-mono text-[11px] leading-none text-soft">
      {children}
    </kbd>
  );
}
