import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { parsePipeline } from '../../domain/spec/parse';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { run } from '../builders/cliWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const SOUND = `pipeline: web
owners: [user:alice]
actions:
  test: { type: integr-test, timeout: 10m }
`;
const sound = file('sound.yaml', SOUND);
const broken = file('broken.yaml', SOUND.replace('owners', 'ovners').replace('10m', '10'));

describe('init', () => {
  test('writes a pipeline that lint accepts, owned by the person who typed it', async () => {
    const path = join(folder, 'new.yaml');
    const ran = await run(['init', 'kvstore', '--file', path], { env: { CONVEYOR_ACTOR: 'user:carol' } });
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(`conveyor lint ${path}`);
    const { spec } = parsePipeline(readFileSync(path, 'utf8'));
    expect(spec).toMatchObject({ pipeline: 'kvstore', owners: expect.arrayContaining(['user:carol']) });
    expect((await run(['lint', path])).code).toBe(0);
  });

  test('also what it leaves as comments is accepted, once the comment signs are gone', async () => {
    const path = join(folder, 'whole.yaml');
    await run(['init', 'kvstore', '--file', path]);
    const text = readFileSync(path, 'utf8');
    const whole = text
      .replace(/^( *)finder: manual.*\n/m, '')
      .replace(/^( *)# (schedule|finder|with|approve|needs):/gm, '$1$2:');
    writeFileSync(path, whole);
    expect(whole).not.toBe(text);
    expect(await run(['lint', path])).toMatchObject({ code: 0, out: `✔ ${path}\n` });
    expect(Object.keys(parsePipeline(whole).spec!.actions)).toEqual(['build', 'approve', 'deploy']);
  });

  test.each(['near.yaml', 'deep/down/far.yaml'])('%s names the schema where it is', async (name) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    await run(['init', 'kvstore', '--file', path]);
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(path, 'utf8')) ?? [];
    expect(JSON.parse(readFileSync(resolve(dirname(path), schema), 'utf8'))).toHaveProperty('$schema');
  });

  test('never overwrites a file', async () => {
    const ran = await run(['init', 'web', '--file', sound]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('already exists');
    expect(readFileSync(sound, 'utf8')).toBe(SOUND);
  });
});

describe('where the configuration at hand allows no scripts', () => {
  const [off, on] = [file('off.yaml', 'extensions: []\n'), file('on.yaml', 'scripts: { enabled: true }\n')];
  const head = 'pipeline: kvstore\nowners: [user:alice]\n';
  const action = file(
    'action.yaml',
    `${head}actions: { load: { type: custom-script, with: { command: [./load-test] } } }\n`,
  );
  const phases = '[{ scope: "*", amount: 100%, bake: 1m, pre: [{ command: [./away.sh] }] }]';
  const around = file(
    'around.yaml',
    `${head}artifacts: { app: { finder: manual } }\nactions: { deploy: { type: deploy, inputs: [app], with: { pushType: twine, config: {}, phases: ${phases} } } }\n`,
  );

  test.each([
    ['lint', action, 'load'],
    ['lint', around, 'deploy'],
    ['apply', action, 'load'],
    ['plan', around, 'deploy'],
  ])('%s %s warns of the action that would fail', async (verb, path, name) => {
    const client = { apply: () => Promise.resolve({ created: true, previous: null }) };
    const argv = [verb, path, ...(verb === 'plan' ? ['--units', file('units.json', '[]')] : [])];
    const { err } = await run(argv, { client, env: { CONVEYOR_CONFIG: off } });
    expect(err).toContain(
      `warning: ${path}: ${name} runs a script, and ${off} allows none: scripts: { enabled: true }`,
    );
    expect((await run(argv, { client, env: { CONVEYOR_CONFIG: on } })).err).not.toContain('runs a script');
  });
});

describe('lint', () => {
  test('a sound file gives 0', async () => {
    expect(await run(['lint', sound])).toMatchObject({ code: 0, out: `✔ ${sound}\n` });
  });

  test('every error stands at its line and column, and the code is 2', async () => {
    const { code, out } = await run(['lint', broken, sound]);
    expect(code).toBe(2);
    expect(out).toMatch(new RegExp(`^${broken}:2:1: error [a-z-]+: .*ovners`, 'm'));
    expect(out).toMatch(new RegExp(`^${broken}:4:\\d+: error [a-z-]+: actions\\.test\\.timeout: `, 'm'));
    expect(out).toMatch(/^\d+ errors, \d+ warnings?$/m);
  });

  test('the JSON lists the problems of each file', async () => {
    const { code, out } = await run(['lint', broken, sound, '-o', 'json']);
    expect(code).toBe(2);
    const { files } = JSON.parse(out) as { files: { file: string; problems: object[] }[] };
    expect(files.map((one) => [one.file, one.problems.length > 0])).toEqual([
      [broken, true],
      [sound, false],
    ]);
    const keys = ['severity', 'code', 'line', 'column', 'path', 'message', 'hint'].sort();
    expect(files[0]!.problems.map((problem) => Object.keys(problem).sort())).toEqual(
      files[0]!.problems.map(() => keys),
    );
  });

  test('a percentage that means more of the fleet beside the file than it says is a warning, as it is in a plan', async () => {
    const beside = mkdtempSync(join(folder, 'beside-'));
    const path = join(beside, 'pipeline.yaml');
    const check = '{ name: errors, metric: m, threshold: { above: 1 }, minSamples: 3 }';
    const deploy = `with: { pushType: twine, config: { jobs: [web] }, healthChecks: [${check}] }`;
    const head = 'pipeline: web\nowners: [user:alice]\nartifacts: { exe: { finder: manual } }\n';
    writeFileSync(path, `${head}actions:\n  deploy: { type: deploy, inputs: [exe], ${deploy} }\n`);
    const withFleet = (text: string) => {
      writeFileSync(join(beside, 'fleet.yaml'), text);
      return run(['lint', path]);
    };
    const small = await withFleet('- { name: web, region: x, tasks: 20, version: "web:1" }\n');
    expect(small.code).toBe(0);
    expect(small.out).toMatch(/:5:\d+: warning misleading-percent: .*1% in phase phase-1 means 5% of these units/);
    const sound = { code: 0, out: `✔ ${path}\n` };
    expect(await withFleet('- { name: web, region: x, tasks: 200, version: "web:1" }\n')).toMatchObject(sound);
    expect(await withFleet('apiVersion: [')).toMatchObject(sound);
  });

  const PIPELINE = `{ pipeline: 'web', owners: ['user:alice'], actions: { test: { type: 'integr-test', timeout: '10m' } } }`;
  test.each([
    ['named.ts', `export const pipeline: object = ${PIPELINE};`],
    ['whole.ts', `export default ${PIPELINE};`],
    [
      'defined.ts',
      `import { definePipeline } from '@conveyor/sdk';\nexport const pipeline = definePipeline(${PIPELINE});`,
    ],
    ['before.ts', `import { definePipeline } from 'conveyor';\nexport const pipeline = definePipeline(${PIPELINE});`],
    ['named.mjs', `export const pipeline = ${PIPELINE};`],
    ['named.cjs', `exports.pipeline = ${PIPELINE};`],
    ['whole.cjs', `module.exports = ${PIPELINE};`],
  ])('%s may export its pipeline by name or as the default', async (name, text) => {
    const path = file(name, text);
    expect(await run(['lint', path])).toMatchObject({ code: 0, out: `✔ ${path}\n` });
  });

  test('with --no-exec runs no file, and says which it would have run', async () => {
    const ran = join(folder, 'ran');
    const program = file('program.ts', `require('fs').writeFileSync(${JSON.stringify(ran)}, ''); export default {};`);
    const { code, out } = await run(['lint', '--no-exec', program, sound]);
    expect([code, existsSync(ran)]).toEqual([2, false]);
    expect(out).toContain(`${program}:1:1: error not-run: it is a program, which --no-exec does not run`);
    expect((await run(['lint', '--no-exec', sound])).code).toBe(0);
    expect((await run(['lint', '--help'])).out).toMatch(/A\s+TypeScript\s+file\s+is\s+run/);
  });

  test('a TypeScript file is checked by what it exports, and one that cannot be loaded is an error in it', async () => {
    const wrong = file('wrong.ts', `export const pipeline = ${PIPELINE.replace('owners', 'ovners')};`);
    expect(await run(['lint', wrong])).toMatchObject({ code: 2, out: expect.stringContaining('ovners') });
    const bad = file('bad.ts', `throw new Error('no luck');`);
    const ran = await run(['lint', bad]);
    expect(ran.code).toBe(2);
    expect(ran.out).toMatch(new RegExp(`^${bad}:1:1: error not-loadable: .*no luck`));
    expect((await run(['lint', file('empty.ts', 'export const other = 1;')])).out).toContain(
      'neither default nor pipeline',
    );
  });
});

describe('apply', () => {
  const specOf = (text: string): PipelineSpec => parsePipeline(text).spec!;

  test('creates with the actor, and says so', async () => {
    const calls: unknown[] = [];
    const client = {
      apply: (...all: unknown[]) => (calls.push(all), Promise.resolve({ created: true, previous: null })),
    };
    expect(await run(['apply', sound], { client })).toMatchObject({ code: 0, out: '✔ web created\n' });
    expect(calls).toEqual([[specOf(SOUND), 'user:alice']]);
  });

  test('shows what changed, and that nothing did', async () => {
    const changed = { apply: () => Promise.resolve({ created: false, previous: specOf(SOUND.replace('10m', '20m')) }) };
    expect((await run(['apply', sound], { client: changed })).out).toBe(
      '✔ web changed\n  ~ actions.test.timeout: 20m → 10m\n',
    );
    const same = { apply: () => Promise.resolve({ created: false, previous: specOf(SOUND) }) };
    expect((await run(['apply', sound], { client: same })).out).toBe('= web unchanged\n');
  });

  test('with one broken file applies none, with code 2', async () => {
    const ran = await run(['apply', sound, broken], { client: {} });
    expect(ran).toMatchObject({ code: 2, out: '', connections: [] });
    expect(ran.err.split(`${broken}:2:1: error unknown-key: `)).toHaveLength(2);
    expect(ran.err).toContain(
      `error: invalid-file: ${broken} has 2 problems\nhint: conveyor lint ${broken} lists them with their positions\n`,
    );
  });

  test('with -o json it is an error for programs, too', async () => {
    const ran = await run(['apply', sound, broken, '-o', 'json'], { client: {} });
    expect(ran.code).toBe(2);
    expect(JSON.parse(ran.out)).toMatchObject({ error: { code: 'invalid-file', message: `${broken} has 2 problems` } });
  });

  test('--dry-run compares without applying', async () => {
    const client = { spec: () => Promise.resolve(specOf(SOUND.replace('10m', '20m'))) };
    expect((await run(['apply', sound, '--dry-run'], { client })).out).toContain(
      'web would change\n  ~ actions.test.timeout: 20m → 10m',
    );
    const none = { spec: () => Promise.reject(conveyorError('unknown-pipeline', { pipeline: 'web' })) };
    expect((await run(['apply', sound, '--dry-run'], { client: none })).out).toBe('✔ web would be created\n');
  });
});

describe('plan', () => {
  test('refuses a pipeline without deploys as a usage error', async () => {
    expect(await run(['plan', sound])).toMatchObject({
      code: 2,
      err: expect.stringContaining('web has no deploy action'),
    });
  });

  test('points to lint for a file with errors', async () => {
    const ran = await run(['plan', broken]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(`conveyor lint ${broken}`);
  });

  test('whose phases do not fit the fleet says which and why', async () => {
    const path = join(folder, 'elsewhere.yaml');
    await run(['init', 'elsewhere', '--file', path]);
    const text = readFileSync(path, 'utf8').replace('scope: "*"', 'scope: "region:z"');
    writeFileSync(path, text);
    const fleet = join(folder, 'fleet.json');
    const unit = { id: 'elsewhere', labels: { region: 'x' }, size: 9, version: 'a:1', mixed: false, available: true };
    writeFileSync(fleet, JSON.stringify({ service: 'elsewhere', units: [unit] }));
    const ran = await run(['plan', path, '--units', fleet]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('plan-impossible: the deploy cannot be planned: the scope region:z of phase first');
  });

  test('without a fleet says where it looked and how to give one', async () => {
    const path = join(folder, 'planned.yaml');
    await run(['init', 'planned', '--file', path]);
    const ran = await run(['plan', path], { env: { CONVEYOR_SIMULATOR_URL: 'http://127.0.0.1:9' } });
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/^error: extension-unavailable: /);
    expect(ran.err).toContain('or give its units with --units FILE');
  });
});
