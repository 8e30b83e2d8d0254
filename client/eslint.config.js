// Rules for the client, its tests and scripts/web: scripts/web/lint.

import js from "@eslint/js";
import globals from "globals";

const TOOLS = ["**/*.mjs", "**/*.test.js", "**/eslint.config.js"]; // what only node reads
const WORKERS = ["**/worker.js", "**/*.worker.js"];
const ANYWHERE = ["**/simulator/**/*.js", "**/policies/**/*.js"]; // pages, workers and node

// Globals of a page that are as likely a variable which was never declared.
const CONFUSING =
  "close closed event external find history length name open origin parent print screen scroll self " +
  "status stop top";

/** @type {import("eslint").Linter.Config[]} */
export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: { ecmaVersion: 2022, sourceType: "module" },
    rules: {
      "array-callback-return": "error",
      eqeqeq: "error",
      "no-constructor-return": "error",
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-promise-executor-return": "error",
      "no-script-url": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-use-before-define": ["error", { functions: false }],
      "no-var": "error",
      "prefer-const": "error",
      "prefer-promise-reject-errors": "error",
    },
  },
  {
    ignores: TOOLS,
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { regex: "^[^.]", message: "The client has files of its own, and no packages." },
          ],
        },
      ],
    },
  },
  {
    ignores: [...TOOLS, ...WORKERS, ...ANYWHERE],
    languageOptions: { globals: globals.browser },
    rules: { "no-restricted-globals": ["error", ...CONFUSING.split(" ")] },
  },
  { files: WORKERS, languageOptions: { globals: globals.worker } },
  { files: ANYWHERE, languageOptions: { globals: globals["shared-node-browser"] } },
  { files: TOOLS, languageOptions: { globals: globals.node } },
];
