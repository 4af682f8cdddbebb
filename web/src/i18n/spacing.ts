// Spaces beside values in Japanese sentences. The words put a space beside each value, because most names are Latin; if
// both sides of it are Japanese ("花 が"), it is removed. Values keep their own spaces.
const EDGE = "\u2063"; // invisible: where a value begins and ends
const LETTERS = "\u3005\u3041-\u30ff\u4e00-\u9fff";
const SPACED = new RegExp(`(?<=[${LETTERS}」）])(?:${EDGE} | ${EDGE})(?=[${LETTERS}「（])`, "gu");

export const marked = (value: string): string => `${EDGE}${value}${EDGE}`;

export const spaced = (said: string): string =>
  said.includes(EDGE) ? said.replaceAll(SPACED, "").replaceAll(EDGE, "") : said;
