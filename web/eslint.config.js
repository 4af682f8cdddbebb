import js from "@eslint/js";
import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

// Texts that people read are in the word files, in English and Japanese. Names of keys and code are not words.
const WORD = "[A-Za-zぁ-んァ-ヶ一-龥]{2}";
const READ =
  "aria-label|aria-description|aria-placeholder|title|placeholder|alt|label|help|hint|description|action|words";
const untranslated = [
  `JSXElement:not([openingElement.name.name=/^(Kbd|code)$/]) > JSXText[value=/${WORD}/]`,
  `JSXFragment > JSXText[value=/${WORD}/]`,
  `:matches(JSXElement, JSXFragment) > JSXExpressionContainer > :matches(Literal, TemplateElement)[value=/${WORD}/]`,
  `JSXAttribute[name.name=/^(${READ})$/] > Literal[value=/^[^_]*${WORD}[^_]*$/]`, // tsk_… is no word
].map((selector) => ({ selector, message: "Put this text into words.ts, in both languages." }));

// What the server takes and answers is said by its OpenAPI document (src/api/routes.ts), and by nobody else.
const ASKS = "Only src/api/client.ts asks the server: call `api` of @/api/client.";
const API_CALL = "CallExpression[callee.object.name='api']";
const casts = [
  [`TSAsExpression > ${API_CALL}, TSAsExpression > AwaitExpression > ${API_CALL}`, "Mend what the server declares."],
  ["TSAsExpression > TSNeverKeyword, TSAsExpression > TSAsExpression", "Say what it is, so that it is checked."],
].map(([selector, message]) => ({ selector, message }));

export default tseslint.config(
  { ignores: ["node_modules", "public", "src/api/schema.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  hooks.configs.flat["recommended-latest"] ?? {},
  a11y.flatConfigs.recommended,
  {
    rules: {
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", 250],
      "no-restricted-globals": ["error", { name: "fetch", message: ASKS }],
      "no-restricted-properties": [
        "error",
        ...["window", "self", "globalThis"].map((object) => ({ object, property: "fetch", message: ASKS })),
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Texts of agents stay texts." },
        ...untranslated,
        ...casts,
      ],
    },
  },
  {
    files: ["**/*.test.{ts,tsx}", "src/testkit.tsx", "src/testing.ts"],
    rules: { "no-restricted-syntax": "off", "no-restricted-globals": "off" },
  },
  { files: ["src/app/fake-browser.ts"], rules: { "no-restricted-syntax": "off" } },
  { files: ["src/api/client.ts"], rules: { "no-restricted-globals": "off" } },
  { files: ["src/push/worker.ts"], rules: { "no-restricted-globals": "off" } }, // it has no page, and its own bundle
  { files: ["**/words.ts", "src/i18n/{en,ja}.ts"], rules: { "max-lines": "off" } },
);
