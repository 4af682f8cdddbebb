// Whether the other side is there: a sign, the word, and the reason in the server's words.

import type { ChatStatus } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Badge, Countdown, Told, type Tone } from "@/ui";

const TONES: Record<ChatStatus["state"], Tone> = {
  connected: "green",
  connecting: "blue",
  terminating: "amber",
  cooling_down: "amber",
  disconnected: "plain",
  person: "plain",
};
const DOTS: Partial<Record<ChatStatus["state"], string>> = {
  connected: "bg-green",
  connecting: "bg-blue animate-pulse",
  terminating: "bg-amber",
  cooling_down: "bg-amber",
};

export function StateBadge({ status }: { status: ChatStatus }) {
  const { t } = useTranslation("chat");
  const pulses = status.state === "connecting" ? "animate-pulse" : "";
  return (
    <Badge tone={TONES[status.state]}>
      {status.state !== "person" && <span aria-hidden className={`size-1.5 rounded-full bg-current ${pulses}`} />}
      {t(`state.${status.state}`)}
    </Badge>
  );
}

/** On an avatar. */
export function StateDot({ status }: { status: ChatStatus }) {
  const { t } = useTranslation("chat");
  const dot = DOTS[status.state];
  if (dot === undefined) return null;
  return (
    <span
      role="img"
      aria-label={t(`state.${status.state}`)}
      className={`absolute right-0 bottom-0 size-2.5 rounded-full border-2 border-paper ${dot}`}
    />
  );
}

/** Why the other side is not there (yet). Nothing where it is. */
export function Why({ status }: { status: ChatStatus }) {
  if (status.state === "connected" || status.state === "person") return null;
  return (
    <p className="border-b border-line bg-sunken px-4 py-2 text-[13px] text-soft">
      <Told text={status.summary} /> {status.until && <Countdown until={status.until} />}
    </p>
  );
}
