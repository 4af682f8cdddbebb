// A card that is pressed, and who hears of it: hand.ts until what carries cards is loaded, carry.tsx from then on.
import type { SyntheticEvent } from "react";

export type Pressed = Pick<SyntheticEvent<HTMLElement>, "type" | "currentTarget" | "nativeEvent"> & { key?: string };
export type Press = (event: Pressed) => void;

/** A press that nothing could take yet. */
export interface Waiting extends Pressed {
  /** Where the pointer has gone since. */
  moved: MouseEvent | null;
}

/** The element that tells screen readers how. */
export const HOW_TO_CARRY = "how-to-carry";
