// What a view shows while it has nothing to show: loading, empty, failed. Empty states say what to do.
import { TriangleAlert } from "lucide-react";
import { Component, type ReactNode } from "react";

import { Away, Refused } from "@/api/client";
import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui/button";
import { Told } from "@/ui/told";

export function Panel({ title, aside, children }: { title?: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="rounded-lg border border-line bg-panel">
      {title !== undefined && (
        <header className="flex min-h-11 items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 className="text-[13px] font-semibold">{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("app.loading")} className="space-y-2 p-4">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="h-4 animate-pulse rounded bg-sunken" style={{ width: `${90 - row * 12}%` }} />
      ))}
    </div>
  );
}

export function Empty({ icon, title, children }: { icon?: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      {icon !== undefined && <div className="text-faint">{icon}</div>}
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-soft">{children}</div>}
    </div>
  );
}

/** What went wrong, in the server's own words, with the next step. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation();
  const { what, next } = wordsOf(error, t("error.away"), retry === undefined ? "" : t("error.awayRead"));
  return (
    <div role="alert" className="flex flex-col items-start gap-2 p-4">
      <p className="flex items-center gap-2 font-medium text-red">
        <TriangleAlert size={16} className="shrink-0" aria-hidden />
        <span className="min-w-0 wrap-anywhere">
          <Told text={what || t("error.title")} />
        </span>
      </p>
      {next && (
        <p className="text-soft">
          <Told text={next} />
        </p>
      )}
      {retry !== undefined && (
        <Button small onClick={retry}>
          {t("app.retry")}
        </Button>
      )}
    </div>
  );
}

/** `awayNext`: what follows where the server did not answer. */
export function wordsOf(error: unknown, away: string, awayNext = ""): { what: string; next: string } {
  if (error instanceof Refused) return { what: error.problem.detail, next: error.problem.instruction };
  if (error instanceof Away) return { what: away, next: awayNext };
  return { what: error instanceof Error ? error.message : String(error), next: "" };
}

/** A view that crashes takes nothing else with it. */
export class Boundary extends Component<{ fallback: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
