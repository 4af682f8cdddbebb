// The program of a launch as Toryo names programs: `claude opus (second)`.
import type { Launch } from "@/api/model";

type Ran = Pick<Launch, "ai_type" | "model" | "account">;

/** `model`: the one that it reported, if it was another one. Empty if it has no program. */
export function programOf({ ai_type, model, account }: Ran, reported: string | null = model): string {
  const further = account !== null && account !== ai_type ? `(${account})` : null;
  return [ai_type, reported, further].filter(Boolean).join(" ");
}
