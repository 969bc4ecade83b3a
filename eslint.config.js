// Rules that the compiler cannot check: the walls between the layers, clocks that are not allowed, unawaited promises.
'use strict';

const tseslint = require('typescript-eslint');
const walls = require('./tools/eslint/walls');

const CLOCK =
  'time and chance come in as arguments (domain) or through the injected Clock (activities): ARCHITECTURE.md#time';
const syntax = (...rules) => ['error', ...rules.map(([selector, message]) => ({ selector, message }))];

const NO_ENUM = ['TSEnumDeclaration', 'use a union of strings: an enum has values that its type does not show'];
const NO_DEFAULT = [
  'ExportDefaultDeclaration, ExportSpecifier[exported.name="default"], TSExportAssignment',
  'export by name: a default has another name in every file',
];
const NO_NOW = ['MemberExpression[object.name="Date"][property.name="now"]', CLOCK];
const NO_NEW_DATE = [
  'NewExpression[callee.name="Date"][arguments.length=0], CallExpression[callee.name="Date"]',
  CLOCK,
];
const NO_RANDOM = ['MemberExpression[object.name="Math"][property.name="random"]', CLOCK];
const NO_TIMERS_MODULE = ['ImportDeclaration[source.value=/^(node:)?timers/]', CLOCK];

// A worker loads the modules of its workflows once, for all of them (scripts/bundle.js).
const TOP = ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration';
const NO_MODULE_STATE = [
  `${TOP}[kind!="const"], ${TOP} > VariableDeclarator[init.callee.name=/^(Weak)?(Map|Set)$/]:not([id.typeAnnotation.typeAnnotation.typeName.name=/^Readonly/])`,
  'all workflows of a worker share this module: what one of them changes, the others would see',
];

const banned = (names) => ['error', ...names.map((name) => ({ name, message: CLOCK }))];
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'];
const WORLD = [...TIMERS, 'performance', 'process', 'crypto', 'fetch', 'queueMicrotask'];

module.exports = [
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.conveyor/'] },
  ...tseslint.configs.recommended.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: __dirname } },
    plugins: { conveyor: { rules: { walls } } },
    rules: {
      'conveyor/walls': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-restricted-syntax': syntax(NO_ENUM, NO_DEFAULT),
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    files: ['domain/**/*.ts'],
    rules: {
      'no-restricted-syntax': syntax(NO_ENUM, NO_DEFAULT, NO_NOW, NO_NEW_DATE, NO_RANDOM, NO_MODULE_STATE),
      'no-restricted-globals': banned(WORLD),
    },
  },
  { files: ['workflows/**/*.ts'], rules: { 'no-restricted-syntax': syntax(NO_ENUM, NO_DEFAULT, NO_MODULE_STATE) } },
  {
    files: ['activities/**/*.ts'],
    rules: {
      'no-restricted-syntax': syntax(NO_ENUM, NO_DEFAULT, NO_NOW, NO_NEW_DATE, NO_TIMERS_MODULE),
      'no-restricted-globals': banned(TIMERS),
    },
  },
  // The only place that reads the real clock, for injection everywhere else.
  {
    files: ['activities/clock.ts'],
    rules: { 'no-restricted-syntax': syntax(NO_ENUM, NO_DEFAULT), 'no-restricted-globals': 'off' },
  },
  { files: ['tests/**/*.ts'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
  { files: ['**/*.config.ts'], rules: { 'no-restricted-syntax': syntax(NO_ENUM) } },
];
