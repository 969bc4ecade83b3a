// One project for each kind of set-up, so that `jest tests/domain` starts nothing. A new folder under tests/ falls into
// `unit` unless it is named below.
'use strict';

const VIRTUAL = ['workflows', 'replay'];
const SYSTEM = ['system'];
const folders = (names) => names.map((name) => `<rootDir>/tests/${name}/**/*.test.ts`);

/** `npm test` runs the short lane, `npm run test:all` also the long one and that of the night; Jest itself, and either with arguments, whatever they name. */
const LANE = process.env.CONVEYOR_TEST_LANE;
const LEFT_OUT =
  {
    short: ['\\.(long|night)\\.test\\.ts$'],
    long: ['(?<!\\.long)\\.test\\.ts$'],
    night: ['(?<!\\.night)\\.test\\.ts$'],
  }[LANE] ?? [];

const ESM_PACKAGES = 'jose|oauth4webapi|openid-client';
const ESM_ONLY = `/node_modules/(${ESM_PACKAGES})/.+\\.js$`;

const common = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/tests/setup/tidyEnvironment.js',
  transform: {
    '^.+\\.tsx?$': ['ts-jest', { tsconfig: 'tsconfig.json' }],
    // Node loads these by require; jest, which has modules of its own, cannot.
    [ESM_ONLY]: [
      'ts-jest',
      { tsconfig: { allowJs: true, module: 'commonjs', target: 'es2023', isolatedModules: true } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ESM_PACKAGES})/)`],
  moduleNameMapper: {
    '^jiti$': '<rootDir>/tests/setup/jiti.js',
    '^(\\.\\./)+entry$': '<rootDir>/tests/setup/entry.js',
    ...(LANE === 'short' && { '^fast-check$': '<rootDir>/tests/setup/fewerCases.js' }),
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testPathIgnorePatterns: ['/node_modules/', ...LEFT_OUT],
};

module.exports = {
  // Two cores carry four test files: those that start processes mostly wait for them.
  maxWorkers: 4,
  // Ends what hangs; says nothing of speed, since machines of CI are shared. A test of speed has a limit of its own.
  testTimeout: 480_000,
  // Test files leave things behind that make a process slow.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/tests/setup/alternatingSequencer.js',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/tests/**/*.test.ts'],
      testPathIgnorePatterns: [
        ...common.testPathIgnorePatterns,
        ...[...VIRTUAL, ...SYSTEM].map((name) => `<rootDir>/tests/${name}/`),
      ],
    },
    {
      ...common,
      displayName: 'virtual time',
      testMatch: folders(VIRTUAL),
      testEnvironment: '<rootDir>/tests/setup/virtualEnvironment.js',
      globalSetup: '<rootDir>/tests/setup/virtualServer.js',
      globalTeardown: '<rootDir>/tests/setup/stopVirtualServer.js',
    },
    {
      ...common,
      displayName: 'system',
      testMatch: folders(SYSTEM),
      globalSetup: '<rootDir>/tests/setup/devServer.js',
      globalTeardown: '<rootDir>/tests/setup/stopDevServer.js',
    },
  ],
};
