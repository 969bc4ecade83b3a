import { parsePipelineValue } from '../../../domain/spec/parse';
import { findMisleadingPercent } from '../../../domain/deploy/planView';

const CHECK = { name: 'errors', metric: 'm', threshold: { above: 1 }, minSamples: 3 };
const PART = { name: 'part', scope: '*', amount: '5%' };
const REGION = { forEach: 'region', amount: '100%' };

/** The findings of lint for a pipeline with these fields. */
const problemsOf = (fields: object) =>
  parsePipelineValue({
    pipeline: 'web',
    owners: ['user:alice'],
    actions: { build: { type: 'build' } },
    ...fields,
  }).problems;
const codes = (fields: object): string[] => problemsOf(fields).map(({ code }) => code);
const ofDeploy = (fields: object): string[] =>
  codes({
    artifacts: { executable: { finder: 'manual' } },
    actions: {
      deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', healthChecks: [CHECK], ...fields } },
    },
  });
const build = (fields: object = {}) => ({ type: 'build', ...fields });

describe('a deploy', () => {
  test.each<[string, object, string[]]>([
    ['with the default phases is fine', {}, []],
    ['without health checks', { healthChecks: [] }, ['no-health-checks']],
    ['with a completion alone', { phases: undefined, completion: { bake: '1h' } }, ['default-phases']],
    ['without a first small phase', { phases: [] }, ['large-first-phase']],
    ['whose first phase is everything of a region', { phases: [REGION] }, ['large-first-phase']],
    ['whose first phase is a tenth', { phases: [{ scope: '*', amount: '10%' }, REGION] }, []],
    ['whose first phase is a number of tasks', { phases: [{ scope: '*', amount: 1 }, REGION] }, []],
    ['that never fills one region', { phases: [{ scope: '*', amount: '10%' }] }, ['no-whole-region']],
    ['with a phase without bake', { phases: [{ scope: '*', amount: '1%', bake: '0s' }, REGION] }, ['no-bake']],
    [
      'whose default bake is shorter than a check looks back',
      { healthChecks: [{ ...CHECK, lookback: '1h' }] },
      ['bake-too-short'],
    ],
    [
      'whose bake is as long as a check looks back',
      { phases: [{ scope: '*', amount: 1, bake: '3m' }, REGION], healthChecks: [{ ...CHECK, lookback: '3m' }] },
      [],
    ],
    [
      'whose bake is shorter than the health interval',
      { phases: [{ scope: '*', amount: 1, bake: '30s' }, REGION] },
      ['bake-too-short'],
    ],
    [
      'unless the interval is shorter as well',
      { phases: [{ scope: '*', amount: 1, bake: '30s' }, REGION], healthInterval: '10s' },
      [],
    ],
    ['with two phases of one name', { phases: [PART, { ...PART, amount: '9%' }, REGION] }, ['duplicate-phase']],
    ['with a phase called completion', { phases: [{ ...PART, name: 'completion' }, REGION] }, ['duplicate-phase']],
    [
      'with a phase named as another is that has no name',
      { phases: [{ ...PART, name: 'phase-2' }, { scope: '*', amount: '9%' }, REGION] },
      ['duplicate-phase'],
    ],
    [
      'whose phases for each region cannot be distinguished',
      { phases: [{ ...REGION, amount: '5%' }, REGION] },
      ['duplicate-phase'],
    ],
    ...[
      ['less', { scope: '*', amount: '1%' }],
      ['as much', { scope: '*', amount: '5%' }],
      ['less of a part', { scope: 'region:x', amount: '2%' }],
      ['less of each part', { ...REGION, name: 'regions', amount: '2%' }],
    ].map(([what, phase]): [string, object, string[]] => [
      `with a phase that wants ${String(what)} after one that wants more`,
      { phases: [PART, phase, REGION] },
      ['phase-without-effect'],
    ]),
    ...[
      ['more', { scope: '*', amount: '6%' }],
      ['a number of tasks, however many', { scope: '*', amount: 1 }],
      ['whole units', { scope: '*', amount: { units: '1%' } }],
    ].map(([what, phase]): [string, object, string[]] => [
      `with a phase that wants ${String(what)} after one that wants a share`,
      { phases: [PART, phase, REGION] },
      [],
    ]),
    [
      'with a phase that wants less of all than one wanted of a part',
      { phases: [{ scope: 'region:x', amount: '5%' }, { scope: '*', amount: '1%' }, REGION] },
      [],
    ],
    ...['bogus:::', ':x', 'region:', 'region: ', 'a b', 'a:b:c', ''].map((scope): [string, object, string[]] => [
      `with the scope ${JSON.stringify(scope)}`,
      { phases: [{ scope, amount: 1 }, REGION] },
      ['invalid-value'],
    ]),
    ...['*', 'kv-x', 'region:x', 'name:a:b', 'tier:very important'].map((scope): [string, object, string[]] => [
      `with the scope ${JSON.stringify(scope)}`,
      { phases: [{ scope, amount: 1 }, REGION] },
      [],
    ]),
    [
      'with a check that any sample decides',
      { healthChecks: [{ ...CHECK, minSamples: undefined }] },
      ['no-min-samples'],
    ],
    ['with two checks of one name', { healthChecks: [CHECK, CHECK] }, ['duplicate-check']],
    [
      'that compares sums of groups',
      { healthChecks: [{ ...CHECK, reduce: 'sum', compare: 'control', threshold: { increase: '5%' } }] },
      ['unequal-groups'],
    ],
    [
      'that compares sums of the same tasks',
      { healthChecks: [{ ...CHECK, reduce: 'sum', compare: 'before', threshold: { increase: '5%' } }] },
      [],
    ],
  ])('%s', (_title, fields, expected) => {
    expect(ofDeploy(fields)).toEqual(expected);
  });
});

describe('a check', () => {
  const one = (check: object, fields: object = {}): string[] =>
    ofDeploy({ healthChecks: [{ ...CHECK, ...check }], ...fields });
  const part = { name: 'part', scope: '*', amount: '5%' };
  const tasks = (amount: number) => ({ phases: [{ scope: '*', amount, bake: '3m' }, REGION] });
  const whole = {
    phases: [
      { scope: 'region:x', amount: '100%' },
      { ...part, amount: { units: '5%' } },
    ],
  };
  const control = { compare: 'control', threshold: { increase: '5%' } };
  const ranked = { compare: 'before', threshold: { increase: '5%' }, method: 'mann-whitney', lookback: '3m' };
  const counter = { onUnhealthy: 'ignore' };
  const pairs = (check: object, fields: object = {}): string[] =>
    ofDeploy({ healthChecks: [CHECK, { ...CHECK, name: 'second', ...check }], ...fields });

  test.each<[string, string[], string[]]>([
    [
      'that wants more than everything lost',
      one({ compare: 'before', threshold: { decrease: '100%' } }),
      ['cannot-fire'],
    ],
    ['or a fall that numbers below zero know', one({ compare: 'before', threshold: { decrease: 200 } }), []],
    [
      'by ranks, with all of the median tolerated',
      one({ ...control, threshold: { decrease: '5%' }, method: { 'mann-whitney': { tolerance: 1 } } }),
      ['cannot-fire'],
    ],
    ['that is only reported, as all of them', one(counter), ['only-reported']],
    ['that is only reported, as some of them', pairs(counter), []],
    ['that is only reported, for longer than the bake', pairs({ ...counter, for: '10m' }), ['cannot-fire']],
    ['that is only reported, as often as fits into the bake', pairs({ ...counter, for: { evaluations: 10 } }), []],
    ['that is only reported, once more often', pairs({ ...counter, for: { evaluations: 11 } }), ['cannot-fire']],
    [
      'that is only reported, in a longer completion',
      pairs({ ...counter, for: '10m' }, { completion: { bake: '1h' } }),
      ['default-phases'],
    ],
    ['that counts extends the bake for its for', pairs({ for: '10m' }), []],
    ['that compares with what whole units leave', one(control, whole), ['large-first-phase', 'empty-control']],
    ['while they update it finds some', one(control, { ...whole, mode: 'parallel' }), ['large-first-phase']],
    ['and with a part of the tasks as well', one(control, { phases: [part, REGION] }), []],
    ['or with before', one({ ...control, compare: 'before' }, whole), ['large-first-phase']],
    [
      'that needs more samples than one task has',
      one({ lookback: '3m', minSamples: 4 }, tasks(1)),
      ['too-few-samples'],
    ],
    ['that needs as many as two tasks have', one({ lookback: '3m', minSamples: 6 }, tasks(2)), []],
    ['of tasks whose number the fleet knows', one({ minSamples: 1000 }), []],
    ['of units whose number the fleet knows', one({ minSamples: 1000, scope: 'deploy' }, tasks(1)), []],
    ['that ranks three values', one(ranked, tasks(1)), ['too-few-samples']],
    ['that ranks six', one(ranked, tasks(2)), []],
    ['that ranks one of each task', one({ ...ranked, transform: ['max'] }, tasks(2)), ['too-few-samples']],
    ['that ranks them against all others', one({ ...ranked, compare: 'control' }, tasks(1)), []],
    ['whose zero matters', one({ compare: 'before', threshold: { increase: '5%' }, zeroBaseline: 'healthy' }), []],
    ['whose zero means nothing', one({ zeroBaseline: 'healthy' }), ['no-effect']],
  ])('%s', (_title, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('checks of a canary are examined as well', () => {
    const canary = (fields: object): string[] =>
      codes({
        artifacts: { exe: { finder: 'manual' } },
        actions: {
          try: {
            type: 'canary',
            inputs: ['exe'],
            with: { pushType: 'twine', amount: 1, bake: '10m', healthChecks: [CHECK], ...fields },
          },
        },
      });
    expect(canary({})).toEqual([]);
    expect(canary({ healthChecks: [{ ...CHECK, minSamples: 100 }] })).toEqual(['too-few-samples']);
    expect(canary({ healthChecks: [CHECK, CHECK] })).toEqual(['duplicate-check']);
    expect(canary({ amount: '100%', healthChecks: [{ ...CHECK, ...control }] })).toEqual(['empty-control']);
    expect(canary({ healthChecks: [] })).toEqual(['no-health-checks']);
    expect(canary({ bake: '0s' })).toEqual(['no-bake']);
    expect(canary({ bake: '30s' })).toEqual(['bake-too-short']);
    expect(canary({ healthChecks: [{ ...CHECK, lookback: '11m' }] })).toEqual(['bake-too-short']);
    expect(canary({ bake: undefined })).toEqual([]);
  });
});

describe('a pipeline that works is not refused', () => {
  test.each<[string, object]>([
    [
      'conditions, joins, retries, timeouts',
      {
        actions: {
          a: build(),
          b: build({
            needs: ['a'],
            runIf: 'always',
            join: 'any',
            timeout: '1h',
            retry: { attempts: 3 },
            when: [{ action: 'a', outcome: 'failed' }],
          }),
        },
      },
    ],
    ['what follows a failure', { actions: { a: build(), b: build({ needs: ['a'], runIf: 'failure' }) } }],
    ['queueing and holds', { releases: { supersede: 'never', onRevert: 'hold', maxActive: 1 } }],
    ['releases started by hand', { schedule: { mode: 'manual' } }],
  ])('%s', (_title, fields) => {
    expect(codes(fields)).toEqual([]);
  });
});

describe('an artifact for children', () => {
  const handed = (needs: string[], more: object = {}): string[] =>
    codes({
      actions: {
        build: build({ outputs: ['exe'] }),
        ...{ rebuild: build({ needs, outputs: ['exe'] }), ...more },
      },
      children: { pipelines: ['other'], artifacts: ['exe'] },
    });

  test('an artifact comes from its last producer, so there has to be one', () => {
    expect(handed(['build'])).toEqual([]);
    expect(handed([])).toEqual(['ambiguous-artifact']);
    expect(handed([], { fix: build({ needs: ['build', 'rebuild'], outputs: ['exe'] }) })).toEqual([
      'ambiguous-artifact',
    ]);
    expect(handed(['build'], { fix: build({ needs: ['rebuild'], outputs: ['exe'] }) })).toEqual([]);
  });
});

describe('an artifact', () => {
  const rebuilt = (needs: string[]) => ({
    actions: {
      build: build({ outputs: ['exe'] }),
      profile: build({ inputs: ['exe'], needs: ['build'] }),
      rebuild: build({ needs: ['profile'], outputs: ['exe'] }),
      ship: build({ needs, inputs: ['exe'] }),
    },
  });
  test.each<[string, object, string[]]>([
    ['produced twice comes from the nearest', rebuilt(['rebuild']), []],
    ['produced twice by nobody before it', rebuilt([]), ['ambiguous-artifact']],
    [
      'passed on by one that may make none, from two of which neither is the nearest',
      {
        actions: {
          one: build({ outputs: ['exe'] }),
          two: build({ outputs: ['exe'] }),
          fix: build({ needs: ['one', 'two'], outputs: ['exe'], runIf: 'failure' }),
          ship: build({ needs: ['fix'], inputs: ['exe'], runIf: 'always' }),
        },
      },
      ['ambiguous-artifact'],
    ],
    [
      'that a condition looks at, passed on by one that may make none, from two of which neither is the nearest',
      {
        actions: {
          one: build({ outputs: ['exe'] }),
          two: build({ outputs: ['exe'] }),
          fix: build({ needs: ['one', 'two'], outputs: ['exe'] }),
          ship: build({ needs: ['fix'], when: [{ changed: 'exe' }], runIf: 'always' }),
        },
      },
      ['ambiguous-artifact'],
    ],
    [
      'may be brought and produced again',
      {
        artifacts: { exe: { finder: 'manual' } },
        actions: {
          patch: build({ inputs: ['exe'], outputs: ['exe'] }),
          ship: build({ needs: ['patch'], inputs: ['exe'] }),
        },
      },
      [],
    ],
    ['that nobody takes', { artifacts: { exe: { finder: 'manual' } } }, ['unused-artifact']],
  ])('%s', (_title, fields, expected) => {
    expect(codes(fields)).toEqual(expected);
  });
});

describe('a wait for another pipeline', () => {
  const wait = (fields: object): string[] =>
    codes({
      artifacts: { model: { finder: 'manual' } },
      actions: {
        build: build({ inputs: ['model'], outputs: ['exe'] }),
        wait: { type: 'wait-for', needs: ['build'], with: fields },
      },
    });
  test.each<[string, object, string[]]>([
    ['names it', { pipeline: 'api' }, []],
    ['may be for its release with an artifact of this one', { pipeline: 'api', artifact: 'model' }, []],
    ['be it built here', { pipeline: 'api', artifact: 'exe' }, []],
    ['or with a version that it has', { pipeline: 'api', artifact: 'weights', version: '7' }, []],
    ['but not for itself', { pipeline: 'web' }, ['waits-for-itself']],
    [
      'nor for a version of what this release does not have',
      { pipeline: 'api', artifact: 'weights' },
      ['unknown-artifact'],
    ],
    ['nor for a version of nothing', { pipeline: 'api', version: '7' }, ['invalid-value']],
    ['and needs a name', {}, ['missing-key']],
  ])('%s', (_title, fields, expected) => {
    expect(wait(fields)).toEqual(expected);
  });
});

describe('a finder', () => {
  const found = (finder: string, wanted?: object): string[] =>
    codes({
      artifacts: { exe: { finder, ...(wanted ? { with: wanted } : {}) } },
      actions: { ship: build({ inputs: ['exe'] }) },
    });
  test.each<[string, string, object | undefined, string[]]>([
    ['that has all that it needs', 'commits', { repository: 'kv', branch: 'main' }, []],
    ['that lacks something', 'commits', { repository: 'kv' }, ['finder-with']],
    ['that is given what it does not know', 'model-versions', { model: 'm', tag: 'x' }, ['finder-with']],
    ['that is given nothing', 'config-changes', undefined, ['finder-with']],
    ['that looks for nothing', 'manual', undefined, []],
    ['that looks for nothing and has a with', 'manual', { model: 'm' }, ['finder-with']],
    ['that is misspelt', 'comits', { repository: 'kv', branch: 'main' }, ['unknown-finder']],
    ['that is a service of our own', 'wasm-modules', { anything: 1 }, []],
    ['of what another pipeline produces', 'pipeline-output', { pipeline: 'base', artifact: 'image' }, []],
    ['of an offer of another pipeline', 'offer', { pipeline: 'base', offer: 'vpc' }, []],
    ['of an offer of the pipeline itself', 'offer', { pipeline: 'web', offer: 'vpc' }, ['own-output']],
    ['of what the pipeline itself produces', 'pipeline-output', { pipeline: 'web', artifact: 'image' }, ['own-output']],
  ])('%s', (_title, finder, wanted, expected) => {
    expect(found(finder, wanted)).toEqual(expected);
  });
});

describe('changes of configuration, each of which has what no later one has', () => {
  const OF_CHANGES = {
    ...{ pipeline: 'limits', owners: ['user:alice'] },
    artifacts: { limits: { finder: 'config-changes', with: { repository: 'flags', paths: ['feed/'] } } },
    actions: { ship: build({ inputs: ['limits'] }) },
  };
  test('are released one after the other, and a build that waits makes way for a newer one, where the file says nothing', () => {
    expect(parsePipelineValue(OF_CHANGES).spec?.releases.supersede).toBe('never');
    expect(parsePipelineValue({ ...OF_CHANGES, releases: { maxActive: 2 } }).spec?.releases).toMatchObject({
      ...{ maxActive: 2, supersede: 'never' },
    });
    const ofBuilds = { ...OF_CHANGES, artifacts: { limits: { finder: 'manual' } } };
    expect(parsePipelineValue(ofBuilds).spec?.releases.supersede).toBe('waiting');
  });

  test.each([
    ['never', []],
    ['waiting', ['changes-superseded']],
    ['running', ['changes-superseded']],
  ])('with supersede: %s', (supersede, expected) => {
    expect(codes({ ...OF_CHANGES, releases: { supersede } })).toEqual(expected);
  });
});

test.each([
  ['http://169.254.169.254/latest', ['internal-address']],
  ['http://2852039166/', ['internal-address']],
  ['http://metadata.google.internal/', ['internal-address']],
  ['http://[fe80::1]/', ['internal-address']],
  ['http://[fd00:ec2::254]/', ['internal-address']],
  ['http://[::ffff:169.254.169.254]/', ['internal-address']],
  ['http://[64:ff9b::169.254.169.254]/', ['internal-address']],
  ['http://[2002:a9fe:a9fe::]/', ['internal-address']],
  ['http://[::169.254.169.254]/', ['internal-address']],
  ['http://168.63.129.16/', ['internal-address']],
  ['http://192.0.0.192/', ['internal-address']],
  ['http://[2002:808:808::]/', []],
  ['http://[64:ff9b::8.8.8.8]/', []],
  ['http://127.0.0.1:9/', []],
  ['https://example.org/hook', []],
  ['${HOOKS}/storage', []],
])('a notification to %s', (url, expected) => {
  expect(codes({ notify: [{ on: ['failed'], url }] })).toEqual(expected);
});

describe('a timezone', () => {
  const problems = (timezone: string) => problemsOf({ schedule: { timezone } });
  test.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/UTC', 'Etc/GMT+8', 'US/Pacific', 'UTC'])(
    '%s means one place, or none',
    (zone) => expect(problems(zone)).toEqual([]),
  );
  test.each([
    ['BST', 'Europe/London'],
    ['EST', 'America/New_York'],
    ['PST', 'America/Los_Angeles'],
    ['IST', 'Asia/Kolkata'],
    ['CET', 'Europe/Berlin'],
    ['GMT', 'UTC'],
    ['utc', 'UTC'],
    ['Japan', 'America/Los_Angeles or UTC'],
    ['+02:00', 'America/Los_Angeles or UTC'],
    ['Europe/Bern', 'America/Los_Angeles or UTC'],
  ])('%s is refused, and %s is proposed', (zone, proposed) => {
    expect(problems(zone)).toMatchObject([
      { code: 'invalid-timezone', hint: expect.stringMatching(new RegExp(`as ${proposed}$`)) },
    ]);
  });
});

describe('a calendar', () => {
  const calendar = (text: string): string[] =>
    codes({ schedule: { mode: 'calendar', calendar: text, timezone: 'Europe/Berlin' } });
  test.each<[string, string[]]>([
    ['0 10 * * 1-4', []],
    // Days of the month and of the week are alternatives, and the 15th may be a Friday.
    ['*/15 8-11 1,15 jan-jun mon,thu', ['late-in-the-week']],
    ['0 10 * * mon#1', []],
    ['0 10 29 2 *', []],
    ['0 10 30 2 *', ['never-fires']],
    ['0 10 31 4,6,9,11 *', ['never-fires']],
    ['@hourly', ['late-in-the-week']],
    ['@daily', ['late-in-the-week']],
    ['@weekly', ['late-in-the-week']],
    ['@monthly', ['late-in-the-week']],
    ['@fortnightly', ['invalid-cron']],
    ['@daily *', ['invalid-cron']],
    ['5/15 10 * * 1-4', []],
    ['5/15,7 8/2 * 3/3 1-4', []],
    ['60/15 10 * * 1', ['invalid-cron']],
    ['5/x 10 * * 1', ['invalid-cron']],
    ['0 10 * * *', ['late-in-the-week']],
    ['0 10 * * 7', ['late-in-the-week']],
    ['0 10 * *', ['invalid-cron']],
    ['60 10 * * 1', ['invalid-cron']],
    ['0 10 0 * 1', ['invalid-cron']],
    ['0 10 * 13 1', ['invalid-cron']],
    ['0 10 * * someday', ['invalid-cron']],
    ['0 10 * * 4-1', ['invalid-cron']],
    ['0/0 10 * * 1', ['invalid-cron']],
  ])('%s', (text, expected) => {
    expect(calendar(text)).toEqual(expected);
  });
});

describe('a field that would be ignored is refused', () => {
  const schedule = { calendar: '0 10 * * 1-4', timezone: 'Europe/Berlin' };
  const made = (action: object) => ({
    actions: { make: { outputs: ['exe'], ...action }, ship: build({ inputs: ['exe'] }) },
  });
  test.each<[string, object, string[]]>([
    ['a calendar where deploys start at any time', { schedule }, ['no-effect']],
    ['a calendar where a person starts them', { schedule: { ...schedule, mode: 'manual' } }, ['no-effect']],
    ['a timezone is only what a calendar would be in', { schedule: { timezone: 'Europe/Berlin' } }, []],
    ['an artifact of a script', made({ type: 'custom-script', with: { command: ['make'] } }), ['unreachable-artifact']],
    ['an artifact of a wait', made({ type: 'wait-for', with: { pipeline: 'api' } }), ['unreachable-artifact']],
    ['not one of a service', made({ type: 'custom', with: { service: 'make' } }), []],
  ])('%s', (_title, fields, expected) => {
    expect(codes(fields)).toEqual(expected);
  });
});

test('a percentage that means far more of small units is noticed', () => {
  expect(findMisleadingPercent({ percent: 1 }, [1, 1, 1])).toEqual({ written: 1, effective: 100 });
  expect(findMisleadingPercent({ percent: 5 }, [12, 12])).toBeUndefined();
  expect(findMisleadingPercent({ percent: 1 }, [1000, 1000])).toBeUndefined();
  expect(findMisleadingPercent({ count: 3 }, [3])).toBeUndefined();
  expect(findMisleadingPercent({ percent: 1 }, [])).toBeUndefined();
});
