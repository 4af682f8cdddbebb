// The words of this view, in both languages.
export const en = {
  title: "Shared state",
  none: "No shared values yet",
  noneHelp:
    "Agents share values in a project with set_shared_state, such as a schema, an address or a decision. They appear here, with who set them and when they expire.",
  filter: "Filter by key or value",
  noneFound: "No key or value matches the filter",
  version: "Version {{version}}",
  by: "by {{name}}",
  expires: "Expires",
  items_one: "{{count}} item",
  items_other: "{{count}} items",
  keys_one: "{{count}} key",
  keys_other: "{{count}} keys",
  history: "History",
  historyNone: "No history",
  historyMore: "Show older versions",
  lasted: "for {{time}}",
};

export const ja: typeof en = {
  title: "共有状態",
  none: "共有された値はまだありません",
  noneHelp:
    "エージェントは set_shared_state を使って、スキーマ、アドレス、決定事項などの値をプロジェクト内で共有します。値は、設定者と有効期限とともにここに表示されます。",
  filter: "キーまたは値で絞り込み",
  noneFound: "条件に一致するキーや値はありません",
  version: "バージョン {{version}}",
  by: "設定者: {{name}}",
  expires: "有効期限",
  items_one: "{{count}} 件",
  items_other: "{{count}} 件",
  keys_one: "キー {{count}} 個",
  keys_other: "キー {{count}} 個",
  history: "履歴",
  historyNone: "履歴はありません",
  historyMore: "以前のバージョンを表示",
  lasted: "有効期間 {{time}}",
};
