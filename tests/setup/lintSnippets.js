// `node tests/setup/lintSnippets.js < SNIPPETS`: lints snippets as if they were files, with the real configuration. It is a separate process, since
// Jest takes half a minute of processor time to load ESLint and its plugins, and Node a second.
'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');
const { Linter } = require('eslint');
const { configs } = require('typescript-eslint');
const config = require('../../eslint.config.js');

const ROOT = path.join(__dirname, '../..');

/** Without the rules that need the compiler. */
const untyped = {
  files: ['**/*.{ts,tsx}'],
  ...configs.disableTypeChecked,
  languageOptions: { parserOptions: { projectService: false } },
};

/** A place outside any project, since loading that of the whole tree takes half a minute of processor time. */
const NOWHERE = path.parse(ROOT).root;
const typed = {
  files: ['**/*.{ts,tsx}'],
  languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['*/*.ts'] }, tsconfigRootDir: NOWHERE } },
};

const linterIn = (cwd) => new Linter({ configType: 'flat', cwd });
const places = {
  typed: { root: NOWHERE, rules: [...config, typed], linter: linterIn(NOWHERE) },
  untyped: { root: ROOT, rules: [...config, untyped], linter: linterIn(ROOT) },
};

/** `rule: message`, one for each complaint. */
function lint({ file, code, isTyped = false }) {
  const { root, rules, linter } = places[isTyped ? 'typed' : 'untyped'];
  return linter
    .verify(code, rules, { filename: path.join(root, file) })
    .map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(lint)));
