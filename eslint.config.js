import tseslint from 'typescript-eslint'

/** Only src/time may read a clock or arm a timer: everything else goes through the Clock seam. */
const clockGlobals = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'performance',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
]
const clockMessage = 'Take the time and timers from the Clock that was passed in (src/time/clock.ts).'

export default tseslint.config(
  {
    // Generated or third-party output; examples of wrong input under test/fixtures are data, not code.
    ignores: [
      'dist/**',
      'coverage/**',
      '.cache/**',
      'docs/.vitepress/cache/**',
      'docs/.vitepress/dist/**',
      'docs/reference/api/**',
      '**/node_modules/**',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/strict-boolean-expressions': [
        'error',
        { allowNullableBoolean: true, allowNullableString: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/prefer-readonly': 'error',
      // Numbers and keys read well in templates; their text is well defined.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // Quartz's SPI has methods that one implementation finishes at once and another must wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**'],
    rules: {
      'no-console': 'error',
      // `void` would hide a failure that ends the process: `unawaited` (src/core/promises.ts) says where it goes.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: clockMessage },
        { object: 'Math', property: 'random', message: 'Randomness comes from src/core/ids.ts.' },
      ],
      'no-restricted-globals': ['error', ...clockGlobals.map((name) => ({ name, message: clockMessage }))],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: clockMessage },
      ],
    },
  },
  {
    files: ['src/time/**', 'src/core/ids.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
    },
  },
  {
    // NestJS has modules that are empty classes, and options that are classes of which nobody makes an instance.
    files: ['examples/nestjs/**'],
    rules: {
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    // Plain JavaScript (worker modules of tests, scripts, this file) is not part of the type-checked program, nor is
    // the site's configuration, whose types need a browser's.
    files: ['**/*.js', '**/*.mjs', '**/*.cjs', 'docs/.vitepress/**/*.mts'],
    ...tseslint.configs.disableTypeChecked,
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/explicit-module-boundary-types': 'off',
    },
  },
)
