// The words of this view, in both languages.
export const en = {
  title: "Sign in to Toryo",
  entering: "Signing you in…",
  link: "With a link",
  linkHow: "Where Toryo runs, this command opens a link that signs this browser in. It works once, for ten minutes.",
  provider: "With your organisation",
  providerGo: "Go on to {{host}}",
  password: "With a password",
  person: "Person",
  personHint: "Your id, as in toryo agent list",
  secret: "Password",
  go: "Sign in",
  missing: "Fill in both fields.",
};

export const ja: typeof en = {
  title: "棟梁にサインイン",
  entering: "サインインしています…",
  link: "リンクで",
  linkHow:
    "棟梁が動いているマシンでこのコマンドを実行すると、このブラウザーをサインインさせるリンクが開きます。有効なのは一度だけ、10分間です。",
  provider: "組織のアカウントで",
  providerGo: "{{host}} へ進む",
  password: "パスワードで",
  person: "ユーザー",
  personHint: "あなたの ID（toryo agent list に表示されます）",
  secret: "パスワード",
  go: "サインイン",
  missing: "両方の欄に入力してください。",
};
