// The words of this view, in both languages.
export const en = {
  title: "Shared state",
  none: "Agents share no values yet",
  noneHelp:
    "With set_shared_state an agent keeps a value for the others of this project: a schema, an address, a decision. It appears here, with who set it and how long it lasts.",
  filter: "Find a key or a value",
  noneFound: "No key or value matches",
  version: "Version {{version}}",
  by: "by {{name}}",
  expires: "Expires",
  items: "{{count}} items",
  keys: "{{count}} keys",
  history: "History",
  historyNone: "Nothing is recorded about it",
  historyMore: "Look further back",
  lasted: "for {{time}}",
};

export const ja: typeof en = {
  title: "共有状態",
  none: "まだ共有された値はありません",
  noneHelp:
    "エージェントは set_shared_state で、スキーマ・アドレス・決定事項などの値をプロジェクト内で共有します。誰が設定し、いつまで有効かとともに、ここに表示されます。",
  filter: "キーや値を探す",
  noneFound: "一致するキーや値はありません",
  version: "バージョン {{version}}",
  by: "{{name}} による",
  expires: "期限",
  items: "{{count}} 件",
  keys: "{{count}} 個のキー",
  history: "履歴",
  historyNone: "記録はありません",
  historyMore: "さらに前を見る",
  lasted: "有効期間 {{time}}",
};
