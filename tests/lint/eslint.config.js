// The rules of ESLint for the page, its tests and the other scripts: those that find faults.
// How code looks is Prettier's business.
import js from '@eslint/js';
import globals from 'globals';

const RULES = {
    'array-callback-return': 'error',
    'default-case-last': 'error',
    'eqeqeq': ['error', 'always', {null: 'ignore'}],
    'no-constructor-return': 'error',
    'no-duplicate-imports': 'error',
    'no-eval': 'error',
    'no-implied-eval': 'error',
    'no-new-wrappers': 'error',
    'no-self-compare': 'error',
    'no-shadow': 'error',
    'no-template-curly-in-string': 'error',
    'no-throw-literal': 'error',
    'no-unmodified-loop-condition': 'error',
    'no-unreachable-loop': 'error',
    'no-unused-expressions': 'error',
    'no-unused-vars': ['error', {args: 'after-used', caughtErrors: 'all'}],
    'no-use-before-define': ['error', {functions: false, classes: false, variables: false}],
    'no-useless-assignment': 'error',
    'no-var': 'error',
    'prefer-const': ['error', {destructuring: 'all'}],
    'radix': 'error',
};

export default [
    // `bundle` holds what esbuild has written
    {ignores: ['build/', 'server/visualiser/bundle/']},
    {linterOptions: {reportUnusedDisableDirectives: 'error'}},
    js.configs.recommended,
    {rules: RULES},
    {files: ['server/visualiser/**/*.js'], languageOptions: {globals: globals.browser}},
    {
        files: ['**/*.mjs', 'docker/**', 'tests/kubernetes/**', 'tests/lint/**'],
        languageOptions: {globals: globals.node},
    },
    // these run in node and hand functions to the page, or run in both
    {
        files: ['server/module/**', 'tests/browser/**'],
        languageOptions: {globals: {...globals.node, ...globals.browser}},
    },
];
