// Texts of which every character must be seen: commands and data that somebody approves. What is not shown, or turns
// the order of what one reads around, is written as its number. The same characters as in src/toryo/domain/texts.py: a test compares them.
const NOT_SHOWN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- they are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|(?<![\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}])[\u{e0100}-\u{e01ef}]/gu;

export function visible(text: string): string {
  return text.replace(NOT_SHOWN, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`);
}
