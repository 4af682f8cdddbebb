// The words of this view, in both languages.
export const en = {
  title: "Sign in to Toryo",
  entering: "Signing in…",
  link: "Sign-in link",
  linkHow:
    "Run this command where Toryo runs. It opens a link that signs in this browser. The link works once, within 10 minutes.",
  provider: "Single sign-on",
  providerGo: "Continue to {{host}}",
  password: "User ID and password",
  person: "User ID",
  personHint: "As listed by toryo agent list",
  secret: "Password",
  go: "Sign in",
  missing: "Enter your user ID and password.",
};

export const ja: typeof en = {
  title: "Toryo にサインイン",
  entering: "サインイン中…",
  link: "サインイン用リンク",
  linkHow:
    "Toryo が動いているマシンでこのコマンドを実行すると、サインイン用のリンクがこのブラウザで開きます。リンクは 10 分以内に 1 回だけ使えます。",
  provider: "シングルサインオン",
  providerGo: "{{host}} に進む",
  password: "ユーザー ID とパスワード",
  person: "ユーザー ID",
  personHint: "toryo agent list で確認できます",
  secret: "パスワード",
  go: "サインイン",
  missing: "ユーザー ID とパスワードを入力してください。",
};
