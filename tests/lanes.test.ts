import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import fc from 'fast-check';
import { repositoryFiles } from './setup/repositoryFiles';
import { ROOT } from './setup/sources';

interface Project {
  readonly displayName: string;
  readonly testMatch: readonly string[];
  readonly testPathIgnorePatterns: readonly string[];
  readonly moduleNameMapper: Readonly<Record<string, string>>;
}

type Projects = readonly Project[];
const LANES = ['short', 'long', 'night', 'all'] as const;

/** The projects of jest.config.js when one lane runs, or, as for a named file, all of them. */
function readProjects(lane: (typeof LANES)[number]): Projects {
  const before = process.env['CONVEYOR_TEST_LANE'];
  process.env['CONVEYOR_TEST_LANE'] = lane;
  try {
    return loadAgain<{ projects: Project[] }>('../jest.config.js').projects;
  } finally {
    if (before === undefined) delete process.env['CONVEYOR_TEST_LANE'];
    else process.env['CONVEYOR_TEST_LANE'] = before;
  }
}

function loadAgain<T>(file: string): T {
  let loaded: unknown;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- it is plain JavaScript, which reads its environment once
    loaded = require(file);
  });
  return loaded as T;
}

/** Where a lane runs a file: the names of its projects. */
const runsIn = (projects: readonly Project[], file: string): string[] =>
  projects
    .filter(({ testMatch }) => testMatch.some((glob) => asPattern(glob).test(`/${file}`)))
    .filter(({ testPathIgnorePatterns }) => !testPathIgnorePatterns.some((one) => asPattern(one).test(`/${file}`)))
    .map(({ displayName }) => displayName);

/** Globs have only one form; patterns to leave out are regular expressions already. */
function asPattern(text: string): RegExp {
  const [folder, isGlob] = text.split('/**/*.test.ts');
  return new RegExp((isGlob === undefined ? text : `^${folder}/.*\\.test\\.ts$`).replace('<rootDir>', ''));
}

const OPENS_TESTS = /^(?:describe|test|it)(?:\.\w+)*[(`]/m;
const SOURCE = /\.[cm]?[jt]sx?$/;
const NAMED = /\.(?:test|spec)\.[cm]?[jt]sx?$/;

const testFiles = repositoryFiles().filter(
  (file) => SOURCE.test(file) && (NAMED.test(file) || OPENS_TESTS.test(readFileSync(path.join(ROOT, file), 'utf8'))),
);

describe('the lanes of tests', () => {
  const [short, long, night, all] = LANES.map(readProjects) as [Projects, Projects, Projects, Projects];

  test('have each file with tests in exactly one of them, by its name, and none in neither', () => {
    expect(testFiles.length).toBeGreaterThan(400);
    const wrong = testFiles.filter((file) => {
      const its = /\.(long|night)\.test\.ts$/.exec(file)?.[1] ?? 'short';
      const runs = { short: runsIn(short, file), long: runsIn(long, file), night: runsIn(night, file) };
      const others = Object.entries(runs).filter(([lane, names]) => lane !== its && names.length > 0);
      const own = runs[its as keyof typeof runs];
      return own.length !== 1 || others.length !== 0 || runsIn(all, file).join() !== own.join();
    });
    expect(wrong).toEqual([]);
  });

  test.each(['tests/cli/late.spec.ts', 'tests/cli/late.test.js', 'sdk/late.test.ts', 'late.test.ts'])(
    'would miss %s, and this test finds that',
    (file) => expect([short, long, night, all].flatMap((lane) => runsIn(lane, file))).toEqual([]),
  );

  test('begin with files that exist', () => {
    const { LONGEST } = loadAgain<{ LONGEST: readonly string[] }>('./setup/alternatingSequencer.js');
    expect(LONGEST.filter((file) => !testFiles.includes(file))).toEqual([]);
  });

  test('try properties with fewer cases in the short one alone', () => {
    const triesFewer = ({ moduleNameMapper }: Project): boolean =>
      Object.entries(moduleNameMapper).some(
        ([name, file]) => new RegExp(name).test('fast-check') && /fewerCases/.test(file),
      );
    expect(short.map(triesFewer)).toEqual([true, true, true]);
    expect([...long, ...night, ...all].some(triesFewer)).toBe(false);
  });
});

describe('the cases of a property in the short lane', () => {
  const fewer = loadAgain<{ default: typeof fc }>('./setup/fewerCases').default;

  test.each<[string, { readonly numRuns: number } | undefined, number]>([
    ['a quarter of those that it asks for', { numRuns: 2000 }, 500],
    ['a quarter of the usual hundred', undefined, 25],
    ['ten at least', { numRuns: 30 }, 10],
    ['all of a few', { numRuns: 8 }, 8],
  ])('are %s', (_, parameters, expected) => {
    let tried = 0;
    const count = fewer.property(fewer.nat(), () => void (tried += 1));
    fewer.assert(count, parameters);
    expect(tried).toBe(expected);
  });

  test('include each example', () => {
    const seen: number[] = [];
    const examples = Array.from({ length: 40 }, (_, index): [number] => [index]);
    fewer.assert(
      fewer.property(fewer.nat(), (value) => void seen.push(value)),
      { examples },
    );
    expect(seen).toEqual(examples.flat());
  });

  test('are the first of those of the long lane, for the same seed', () => {
    const draw = (checker: typeof fc): number[] => {
      const seen: number[] = [];
      checker.assert(
        checker.property(checker.nat(), (value) => void seen.push(value)),
        { seed: 36, numRuns: 80 },
      );
      return seen;
    };
    expect(draw(fewer)).toEqual(draw(fc).slice(0, 20));
  });
});
