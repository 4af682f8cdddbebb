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

export default tseslint.config(
  { ignores: ["node_modules", "src/api/schema.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  hooks.configs.flat["recommended-latest"] ?? {},
  a11y.flatConfigs.recommended,
  {
    rules: {
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Texts of agents stay texts." },
        ...untranslated,
      ],
    },
  },
  { files: ["**/*.test.tsx", "src/testkit.tsx"], rules: { "no-restricted-syntax": "off" } },
);
