import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import type { CommandInput } from '../../domain/verbs';
import { deploy, release, revertedDeploy } from '../builders/cliSamples';
import { ROOT } from '../setup/sources';
import { run } from '../builders/cliWorld';

/** A client that gives these statuses one after the other, the last one for ever. */
function seen<T>(...statuses: readonly T[]): { status: () => Promise<T>; asked: () => number } {
  let asked = 0;
  return {
    status: () => Promise.resolve(statuses[Math.min(asked++, statuses.length - 1)] as T),
    asked: () => asked,
  };
}

const succeeded = deploy({
  state: 'ended',
  outcome: 'succeeded',
  classification: 'success',
  endedAt: '2026-11-20T14:03:00.000Z',
});

describe('exit codes', () => {
  test.each([
    ['--help is 0', ['--help'], 0],
    ['a command that does not exist is 2', ['relase'], 2],
    ['an option that does not exist is 2', ['list', 'pipelines', '--frob'], 2],
    ['an argument that is missing is 2', ['watch'], 2],
    ['an output format that does not exist is 2', ['list', 'pipelines', '-o', 'xml'], 2],
    ['a duration that is none is 2', ['watch', 'kvstore/13', '--timeout', '10'], 2],
    [
      'a freeze until a day that does not come is 2',
      ['freeze', 'kv', '--until', '2027-02-30T06:00Z', '--reason', 'r'],
      2,
    ],
    ['a state that nothing of the kind is in is 2', ['list', 'releases', '--state', 'baking'], 2],
    ['a kind that cannot be listed is 2', ['list', 'deployments'], 2],
    ['an artifact without a version is 2', ['release', 'kvstore', '--artifact', 'source'], 2],
    ['a reason that is missing, with nobody to ask, is 2', ['pause', 'kvstore/13'], 2],
    ['a pick without a decision, with nobody to ask, is 2', ['pick', 'kvstore/13/approve', '-r', 'x'], 2],
    ['a pick with both decisions is 2', ['pick', 'kvstore/13/approve', '--approve', '--reject', '-r', 'x'], 2],
    ['a pick of a pipeline is 2', ['pick', 'kvstore', '--approve', '-r', 'x'], 2],
    ['a retry of a pipeline is 2', ['retry', 'kvstore', '-r', 'x'], 2],
    ['a file that cannot be read is 2', ['lint', '/nowhere/pipeline.yaml'], 2],
  ])('%s', async (_title, argv, code) => {
    const ran = await run(argv, { client: seen(release()) });
    expect(ran.code).toBe(code);
    if (code !== 0) expect(ran.err).toMatch(/^error: [a-z-]+: .+\nhint: .+\n$/);
  });

  test.each([
    ['unknown-release', conveyorError('unknown-release', { id: 'kvstore/99' }), 4],
    ['not-permitted', conveyorError('not-permitted', { actor: 'user:bob', pipeline: 'kvstore' }), 4],
    ['temporal-unreachable', conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' }), 1],
  ])('%s ends with the code of the table, its message and its hint', async (code, error, exit) => {
    const ran = await run(['status', 'kvstore/99'], { client: { status: () => Promise.reject(error) } });
    expect(ran).toMatchObject({ code: exit, out: '', err: `error: ${code}: ${error.message}\nhint: ${error.hint}\n` });
  });

  test('an unforeseen exception is internal, without a stack trace', async () => {
    const ran = await run(['status', 'kvstore/99'], {
      client: { status: () => Promise.reject(new TypeError('x is not a function')) },
    });
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/^error: internal: .*x is not a function\nhint: .*\n$/);
  });

  test('its stack is shown with CONVEYOR_DEBUG', async () => {
    const client = { status: () => Promise.reject(new TypeError('x is not a function')) };
    expect((await run(['status', 'kvstore/99'], { client, env: { CONVEYOR_DEBUG: '1' } })).err).toMatch(
      /TypeError.*\n +at /,
    );
  });
});

describe('errors', () => {
  test('a misspelt command is answered with the one that was meant', async () => {
    expect((await run(['relase', 'kvstore'])).err).toBe(
      'error: usage: unknown command relase\nhint: did you mean release?\n',
    );
  });

  test.each([
    [['relase', '--help']],
    [['help', 'relase']],
    [['relase', '-h']],
    [['--no-color', '-o', 'table', 'relase', '--help']],
  ])('help on a command that does not exist is an error too: %j', async (argv) => {
    expect(await run(argv)).toMatchObject({
      ...{ code: 2, out: '' },
      err: 'error: usage: unknown command relase\nhint: did you mean release?\n',
    });
  });

  test('help on a part of a command that does not exist names the part that was meant', async () => {
    expect(await run(['config', 'propse', '--help'])).toMatchObject({
      ...{ code: 2, out: '' },
      err: 'error: usage: unknown command propse\nhint: did you mean propose?\n',
    });
  });

  test.each([
    ['kvstor', 'did you mean kvstore? Else conveyor list'],
    ['frontend', 'conveyor list'],
  ])('a pipeline that does not exist is answered with the one that was meant, if any: %s', async (typed, hint) => {
    const client = {
      status: () => Promise.reject(conveyorError('unknown-pipeline', { pipeline: typed })),
      listPipelines: () => Promise.resolve([{ id: 'web' }, { id: 'kvstore' }] as never),
    };
    const { code, err } = await run(['status', typed], { client });
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringContaining(`error: unknown-pipeline: there is no pipeline ${typed}\nhint: ${hint}`),
    });
  });

  test('with -o json the error is on stdout too, wherever the option stands', async () => {
    for (const argv of [
      ['-o', 'json', 'pause', 'kvstore/13'],
      ['pause', 'kvstore/13', '--output=json'],
    ]) {
      const ran = await run(argv);
      expect(JSON.parse(ran.out)).toEqual({
        error: {
          code: 'missing-reason',
          message: 'pause needs a reason',
          hint: 'say why with --reason "…"; it is recorded',
        },
      });
    }
  });
});

describe('watching', () => {
  test.each([
    ['succeeded', succeeded, 0],
    ['reverted', revertedDeploy(), 3],
  ])('a deploy that ends %s', async (_title, last, code) => {
    const client = seen(deploy(), deploy(), last);
    const ran = await run(['watch', 'kvstore/13/deploy'], { client });
    expect(ran.code).toBe(code);
    expect(client.asked()).toBe(3);
  });

  test('ends with 5 when the time is up, and says that it continues', async () => {
    const ran = await run(['watch', 'kvstore/13/deploy', '--timeout', '5s'], { client: seen(deploy()) });
    expect(ran.code).toBe(5);
    expect(ran.err).toContain('kvstore/13/deploy continues. Watch it again: conveyor watch kvstore/13/deploy');
  });

  test('ends with 130 on Ctrl-C, and says that it continues', async () => {
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: seen(deploy()), interruptAtMs: 3000 });
    expect(ran.code).toBe(130);
    expect(ran.err).toContain('kvstore/13/deploy continues');
  });

  test('off a terminal only appends what changed, and each thing once', async () => {
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: seen(deploy(), deploy(), revertedDeploy()) });
    expect(ran.out.trimEnd().split('\n')).toEqual([
      '2026-11-20T14:01:32Z  kvstore/13/deploy  phase-started: first: 3 tasks of kvstore-x',
      '2026-11-20T14:01:50Z  kvstore/13/deploy  updates-done: first: 3 tasks live',
      '2026-11-20T14:01:50Z  kvstore/13/deploy  ◷ baking: phase first bakes',
      '2026-11-20T14:02:01Z  kvstore/13/deploy  reverting: errors of kvstore-x is unhealthy',
      '2026-11-20T14:02:01Z  kvstore/13/deploy  ✖ kvstore-x errors unhealthy: the mean of 3 tasks is above the limit',
      '2026-11-20T14:02:08Z  kvstore/13/deploy  ↩ reverted',
    ]);
  });

  test('on a terminal draws in place and leaves the last picture', async () => {
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: seen(deploy(), revertedDeploy()), isTTY: true });
    const pictures = ran.out.split(/\u001b\[\d+A\r/);
    expect(pictures.length).toBeGreaterThan(2);
    expect(pictures.at(-1)).toContain('↩ reverted (good-failure)');
    expect(ran.out.endsWith('\u001b[?25h')).toBe(true);
  });

  test('survives a server that is away for a while', async () => {
    let asked = 0;
    const status = (): Promise<ReturnType<typeof deploy>> => {
      asked += 1;
      if (asked === 2)
        return Promise.reject(conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' }));
      return Promise.resolve(asked === 1 ? deploy() : succeeded);
    };
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: { status } });
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/no contact: .*refused\); trying again\nhint: start one with .*\nconnected again\n/);
  });

  test.each([[], ['-o', 'json']])('survives one that is away already at the first look, with %j', async (...format) => {
    let asked = 0;
    const status = (): Promise<ReturnType<typeof deploy>> =>
      (asked += 1) < 3 ? Promise.reject(conveyorError('no-worker', { id: 'kvstore/13' })) : Promise.resolve(succeeded);
    const ran = await run(['watch', 'kvstore/13/deploy', ...format], { client: { status } });
    expect([ran.code, asked]).toEqual([0, 3]);
    expect(ran.err).toMatch(/^no contact: kvstore\/13 exists, .*; trying again\nhint: .*\nconnected again\n/);
    const late = { client: { status: () => Promise.reject(conveyorError('no-worker', { id: 'kvstore/13' })) } };
    expect(await run(['watch', 'kvstore/13/deploy', '--timeout', '5s', ...format], late)).toMatchObject({ code: 5 });
    const drawn = await run(['watch', 'kvstore/13/deploy', '--timeout', '5s'], { ...late, isTTY: true });
    expect(drawn.out).toMatch(/⚠ no contact for \ds: kvstore\/13 exists/);
  });

  test('continues past an error inside Conveyor once it has seen what it watches, and not before', async () => {
    let asked = 0;
    const status = (): Promise<ReturnType<typeof deploy>> =>
      (asked += 1) === 2
        ? Promise.reject(conveyorError('internal', { detail: 'the query failed' }))
        : Promise.resolve(asked === 1 ? deploy() : succeeded);
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: { status } });
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/^no contact: .*the query failed; trying again\nhint: .*report it.*\nconnected again\n$/);
    expect(
      await run(['watch', 'kvstore/13/deploy'], { client: { status: () => Promise.reject(new Error('no')) } }),
    ).toMatchObject({ code: 1 });
  });

  test('says what is gone each time that it is something else, and what to do', async () => {
    const away = { address: 'x:1', detail: 'refused' };
    const answers = [conveyorError('no-worker', { id: 'kvstore/13' }), conveyorError('temporal-unreachable', away)];
    let asked = 0;
    const status = (): Promise<ReturnType<typeof deploy>> => {
      const error = answers[Math.floor(asked++ / 2)];
      return error === undefined ? Promise.resolve(succeeded) : Promise.reject(error);
    };
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: { status } });
    const said = answers.map(({ message, hint }) => `no contact: ${message}; trying again\nhint: ${hint}\n`);
    expect(ran.err).toBe(`${said.join('')}connected again\n`);
  });

  test('that does not answer for a while is waited for with the last picture and its age', async () => {
    let asked = 0;
    const status = async (): Promise<ReturnType<typeof deploy>> => {
      asked += 1;
      if (asked === 1) return deploy();
      if (asked > 2) return succeeded;
      // As long as a dozen pictures take.
      for (let turns = 0; turns < 12; turns += 1) await turn();
      throw conveyorError('no-worker', { id: 'kvstore/13' });
    };
    const ran = await run(['watch', 'kvstore/13/deploy'], { client: { status }, isTTY: true });
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/⚠ no contact for [2-9]s: kvstore\/13 exists.*; trying again/);
    expect(ran.out.lastIndexOf('no contact')).toBeLessThan(ran.out.lastIndexOf('succeeded'));
  });

  test('with -o json stdout holds the last status and nothing else', async () => {
    const ran = await run(['watch', 'kvstore/13/deploy', '-o', 'json'], { client: seen(deploy(), revertedDeploy()) });
    expect(JSON.parse(ran.out)).toEqual(JSON.parse(JSON.stringify(revertedDeploy())));
  });

  test('an id of a pipeline means its newest running release', async () => {
    const asked: string[] = [];
    const status = (id: string): Promise<never> => {
      asked.push(id);
      const answer =
        id === 'kvstore' ? { kind: 'pipeline', active: [12, 13] } : release({ state: 'succeeded', actions: [] });
      return Promise.resolve(answer as never);
    };
    expect((await run(['watch', 'kvstore'], { client: { status } })).code).toBe(0);
    expect(asked).toEqual(['kvstore', 'kvstore/13']);
  });
});

describe('verbs', () => {
  interface Sent {
    readonly id: string;
    readonly verb: string;
    readonly input: CommandInput;
  }

  async function sent(
    argv: readonly string[],
    world: Parameters<typeof run>[1] = {},
  ): Promise<Sent & { out: string; code: number }> {
    const commands: Sent[] = [];
    const command = (id: string, verb: string, input: CommandInput): Promise<never> => {
      commands.push({ id, verb, input });
      return Promise.resolve({ id: 'kvstore/13/deploy', accepted: true, effect: 'done' } as never);
    };
    const { out, code } = await run(argv, { ...world, client: { command } });
    const [only] = commands;
    expect(commands).toHaveLength(1);
    return { ...only!, out, code };
  }

  const why = ['--reason', 'because'];

  test.each([
    [
      ['pause', 'kvstore/13', ...why],
      { id: 'kvstore/13', verb: 'pause', input: { actor: 'user:alice', reason: 'because' } },
    ],
    [['pause', 'kvstore/13', '--no-revert', ...why], { input: { noRevert: true } }],
    [['revert', 'kvstore/13', '--not-bad', ...why], { verb: 'revert', input: { notBad: true } }],
    [['skip-bake', 'kvstore/13/deploy', ...why], { verb: 'skip-bake', id: 'kvstore/13/deploy' }],
    [
      ['skip-health-check', 'kvstore/13', '--check', 'cpu', '--for', 'deploy', ...why],
      { input: { check: 'cpu', for: 'deploy' } },
    ],
    [['skip-window', 'kvstore/13/test', ...why], { verb: 'skip-window', id: 'kvstore/13/test' }],
    [['hold', 'kvstore', ...why], { verb: 'hold', id: 'kvstore' }],
    [['freeze', 'kvstore', ...why], { verb: 'freeze', id: 'kvstore' }],
    [
      ['freeze', 'kvstore', '--until', '2026-12-27T07:00+01:00', ...why],
      { verb: 'freeze', input: { until: '2026-12-27T06:00:00.000Z' } },
    ],
    [['unfreeze', 'kvstore', ...why], { verb: 'unfreeze', id: 'kvstore' }],
    [['retire', 'kvstore', ...why], { verb: 'retire', id: 'kvstore' }],
    [['undeploy', 'kvstore', ...why], { verb: 'undeploy', id: 'kvstore' }],
    [['end-use', 'kvstore', 'shop/deploy', ...why], { verb: 'end-use', input: { user: 'shop/deploy' } }],
    [
      ['pick', 'kvstore/13/approve', '--approve', ...why],
      { verb: 'pick', id: 'kvstore/13/approve', input: { approve: true, actor: 'user:alice', reason: 'because' } },
    ],
    [['pick', 'kvstore/13/approve', '--reject', ...why], { verb: 'pick', input: { approve: false } }],
    [
      ['allow-artifact', 'kvstore', 'executable@kv:13', ...why],
      { verb: 'allow-artifact', input: { artifact: 'executable@kv:13' } },
    ],
  ])('%j is sent as it is meant', async (argv, expected) => {
    expect(await sent(argv)).toMatchObject(expected);
  });

  test('a plain pause asks for nothing but the pause', async () => {
    expect((await sent(['pause', 'kvstore/13', ...why])).input).toEqual({ actor: 'user:alice', reason: 'because' });
  });

  test('the actor is CONVEYOR_ACTOR when it is set', async () => {
    expect((await sent(['resume', 'kvstore/13', ...why], { env: { CONVEYOR_ACTOR: 'service:ci' } })).input.actor).toBe(
      'service:ci',
    );
    expect((await run(['resume', 'kvstore/13', ...why], { env: { CONVEYOR_ACTOR: 'ci' } })).code).toBe(2);
  });

  test('the reason is asked for where a person sits', async () => {
    expect((await sent(['cancel', 'kvstore/13'], { answer: ' wrong artifact ' })).input.reason).toBe('wrong artifact');
    expect((await run(['cancel', 'kvstore/13'], { answer: '' })).err).toContain('missing-reason');
  });

  test('progress is shown, in words or as JSON', async () => {
    expect((await sent(['pause', 'kvstore/13', ...why])).out).toBe('✔ kvstore/13/deploy: done\n');
    expect(JSON.parse((await sent(['pause', 'kvstore/13', ...why, '-o', 'json'])).out)).toEqual({
      id: 'kvstore/13/deploy',
      accepted: true,
      effect: 'done',
    });
  });
});

describe('releasing', () => {
  const started = { id: 'kvstore/13', number: 13, duplicate: false };

  test('hands over artifacts with their fields, who asks and the key', async () => {
    const given: unknown[] = [];
    const client = {
      release: (...all: unknown[]) => (given.push(...all), Promise.resolve(started)),
      status: () => Promise.resolve(release()),
    };
    const ran = await run(
      [
        'release',
        'kvstore',
        '-a',
        'executable=kv:13,digest=sha256:a=,branch=main',
        '--idempotency-key',
        'k',
        '-r',
        'fix',
      ],
      { client },
    );
    expect(given).toEqual([
      'kvstore',
      [{ name: 'executable', kind: 'executable', version: 'kv:13', digest: 'sha256:a=', metadata: { branch: 'main' } }],
      { kind: 'manual', actor: 'user:alice', key: 'k', reason: 'fix' },
    ]);
    expect(ran.out).toBe('✔ started kvstore/13\nWeb UI  http://localhost:8233/r\nNext    conveyor watch kvstore/13\n');
  });

  test('with --wait ends as watching ends', async () => {
    const client = { release: () => Promise.resolve(started), ...seen(release({ state: 'failed', actions: [] })) };
    expect((await run(['release', 'kvstore', '-a', 'source=13', '--wait'], { client })).code).toBe(3);
  });
});

describe('a rerun', () => {
  const again = { id: 'kvstore/14', number: 14, duplicate: false };

  test('says which release it starts, with who asked and why', async () => {
    const given: unknown[] = [];
    const client = { rerun: (...all: unknown[]) => (given.push(...all), Promise.resolve(again)) };
    const ran = await run(['rerun', 'kvstore/13', '-r', 'it was the test bed', '--idempotency-key', 'k'], { client });
    expect(given).toEqual(['kvstore', 13, { actor: 'user:alice', reason: 'it was the test bed', key: 'k' }]);
    expect(ran.out).toContain('✔ started kvstore/14');
  });

  test('is of a release, not of a pipeline or an action', async () => {
    for (const id of ['kvstore', 'kvstore/13/test'])
      expect(await run(['rerun', id])).toMatchObject({ code: 2, err: expect.stringContaining('invalid-id') });
  });
});

describe('an emergency push', () => {
  const line = ['push', 'kvstore', 'deploy', '-a', 'executable=kv:14', '-r', 'kv:13 loses writes'];
  const world = (given: unknown[]) => ({
    client: {
      push: (...all: unknown[]) => (
        given.push(...all),
        Promise.resolve({ id: 'kvstore/14', number: 14, duplicate: false })
      ),
      status: () => Promise.resolve(release({ state: 'succeeded', actions: [] })),
    },
  });

  test.each([
    [[], {}],
    [['--skip-bake'], { skipBake: true }],
    [['--idempotency-key', 'k'], { key: 'k' }],
  ])('with %j hands over the action, the artifacts, who and why', async (more, how) => {
    const given: unknown[] = [];
    const ran = await run([...line, '--emergency', ...more], world(given));
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^✔ started kvstore\/14\n/) });
    expect(given).toEqual([
      'kvstore',
      'deploy',
      [{ name: 'executable', kind: 'executable', version: 'kv:14', metadata: {} }],
      { actor: 'user:alice', reason: 'kv:13 loses writes', ...how },
    ]);
  });

  test('that others have to approve says what they type', async () => {
    const push = () => Promise.resolve({ id: 'kvstore/14', number: 14, duplicate: false, approvals: 1 });
    const { out } = await run([...line, '--emergency'], { client: { ...world([]).client, push } });
    expect(out).toMatch(/^✔ kvstore\/14 waits for 1 approval by other owners\n/);
    expect(out).toContain('conveyor pick kvstore/14/deploy --approve --reason "…"');
  });

  test('that is none is refused with what to type instead', async () => {
    const given: unknown[] = [];
    const ran = await run(line, world(given));
    expect({ code: ran.code, given }).toEqual({ code: 2, given: [] });
    expect(ran.err).toContain('so it needs --emergency\nhint: conveyor release kvstore goes through them');
  });

  test('needs a reason, and with --wait ends as watching ends', async () => {
    expect((await run([...line.slice(0, -2), '--emergency'], world([]))).err).toContain('missing-reason');
    expect((await run([...line, '--emergency', '--wait'], world([]))).code).toBe(0);
  });
});

describe('output formats', () => {
  const client = { listReleases: () => Promise.resolve([release({ id: 'kvstore/12' }), release()]) };

  test.each([
    ['name', 'kvstore/12\nkvstore/13\n'],
    ['table', /^RELEASE +STATE +ARTIFACTS +STARTED +TOOK\nkvstore\/12 +◌ running/],
    ['wide', /^RELEASE .* TRIGGER +KEY\n/],
    ['yaml', /^- id: kvstore\/12\n {2}kind: release\n/],
  ])('%s', async (format, expected) => {
    const { out } = await run(['list', 'releases', '-o', format], { client });
    if (typeof expected === 'string') expect(out).toBe(expected);
    else expect(out).toMatch(expected);
  });

  test.each(['name', 'jsonl'])('%s has no line where there is nothing', async (format) => {
    const none = { listReleases: () => Promise.resolve([]) };
    expect(await run(['list', 'releases', '-o', format], { client: none })).toMatchObject({ code: 0, out: '' });
  });

  test('json is one value and jsonl one line each', async () => {
    expect(JSON.parse((await run(['list', 'releases', '-o', 'json'], { client })).out)).toHaveLength(2);
    expect(
      (await run(['list', 'releases', '-o', 'jsonl'], { client })).out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['kvstore/12', 'kvstore/13']);
  });

  test('flags before or after the command reach the connection', async () => {
    const ran = await run(['--namespace', 'prod', 'list', 'releases', '--address', 'temporal:7'], { client });
    expect(ran.connections).toEqual([{ address: 'temporal:7', namespace: 'prod' }]);
  });

  test('a status of a release shows the deploys in it, its JSON is the release alone', async () => {
    const status = (id: string): Promise<never> =>
      Promise.resolve((id.endsWith('/deploy') ? deploy() : release()) as never);
    expect((await run(['status', 'kvstore/13'], { client: { status } })).out).toContain('│  ├─ 1 first');
    expect(JSON.parse((await run(['status', 'kvstore/13', '-o', 'json'], { client: { status } })).out)).toEqual(
      JSON.parse(JSON.stringify(release())),
    );
  });
});

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect((await run(['--version'])).out.trim()).toBe(version);
});

describe('help', () => {
  test.each([
    'init',
    'lint',
    'plan',
    'apply',
    'release',
    'list',
    'status',
    'watch',
    'history',
    'dev',
    'demo',
    'doctor',
    'skip-health-check',
  ])('%s has a description and an example', async (command) => {
    const { out, code } = await run([command, '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`Usage: conveyor ${command} `));
    expect(out).toMatch(new RegExp(`Examples:\\n {2}conveyor ${command}`));
  });

  test('lists every command of the contract', async () => {
    const { out } = await run([]);
    const wanted =
      'init lint plan apply release list status watch pause resume cancel revert skip-phase skip-bake skip-health-check skip-window hold unhold allow-artifact history worker server simulator dev doctor demo';
    for (const command of wanted.split(' ')) expect(out).toMatch(new RegExp(`^ {2}${command}[ \\n]`, 'm'));
  });
});

describe('where no worker answers', () => {
  const away = () => Promise.reject(conveyorError('no-worker', { id: 'kvstore/13' }));
  const client = {
    status: away,
    history: away,
    listPipelines: () => Promise.resolve([]),
    listReleases: () => Promise.resolve([release(), release({ id: 'kvstore/12', number: 12 })]),
    listDeploys: () => Promise.resolve([deploy(), deploy({ id: 'kvstore/12/deploy' })]),
  };

  test.each([
    ['status', 'kvstore/13', ['kvstore/13 ', 'kvstore/13/deploy ']],
    ['status', 'kvstore', ['kvstore/13 ', 'kvstore/12 ', 'kvstore/13/deploy ', 'kvstore/12/deploy ']],
    ['history', 'kvstore', ['kvstore/13 ', 'kvstore/12 ', 'kvstore/13/deploy ', 'kvstore/12/deploy ']],
  ])('%s %s shows what is known without one, and then says so', async (command, id, rows) => {
    const { code, out, err } = await run([command, id], { client });
    expect(out).toMatch(/^No worker answers. Last state known to the Temporal server:\n/);
    const shown = out.split('\n').flatMap((line) => /^kvstore\S+ /.exec(line)?.[0] ?? []);
    expect(shown).toEqual(rows);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('no-worker') });
  });

  test('programs get the error alone', async () => {
    const { out } = await run(['status', 'kvstore/13', '-o', 'json'], { client });
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'no-worker' } });
  });

  test('a release that is too old for the lists is not said to be missing', async () => {
    expect(await run(['status', 'kvstore/1'], { client })).toMatchObject({ code: 1, out: '' });
  });

  test('and the server is silent as well, that is what is said', async () => {
    const silence = conveyorError('temporal-unreachable', { address: 'localhost:7233', detail: 'silent' });
    const silent = { ...client, listReleases: () => Promise.reject(silence) };
    const { code, out, err } = await run(['status', 'kvstore/13'], { client: silent });
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringContaining('temporal-unreachable') });
  });

  test('and without further facts, the error is all', async () => {
    const nothing = { ...client, listReleases: () => Promise.reject(new Error('away too')) };
    expect(await run(['status', 'kvstore/13'], { client: nothing })).toMatchObject({ code: 1, out: '' });
  });
});
