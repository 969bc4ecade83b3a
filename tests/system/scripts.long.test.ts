import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GUARANTEES } from '../../domain/isolation';
import type { ReleaseStatus } from '../../domain/views';
import { given } from './service';
import { OWNER, SHARED, Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open({ settings: { waitInterval: '300ms' } });
});
afterAll(() => stack.close());

const nameOf = (kind: string): string => `${kind}-${randomBytes(4).toString('hex')}`;

async function applied(name: string, actions: object): Promise<void> {
  const file = stack.file(`${name}.yaml`, { pipeline: name, owners: [OWNER], actions });
  await stack.json(['apply', file]);
}

const release = (name: string): Promise<ReleaseStatus> => stack.client.status(`${name}/1`) as Promise<ReleaseStatus>;

const ended = (name: string): Promise<ReleaseStatus> =>
  eventually(`${name}/1 has ended`, async () => {
    const status = await release(name);
    return status.endedAt !== null && status;
  });

/** The output of the script itself, without the first line about isolation that this machine lacks. */
const own = (text = ''): string => text.replace(/^conveyor: nothing keeps it from .*\n/, '');

/** A pipeline of one script, which starts a child, reports it, and waits until it may continue. */
async function givenScript(): Promise<{ name: string; starts: () => string[]; mayEnd: () => void }> {
  const name = nameOf('script');
  const file = (what: string): string => join(stack.home, SHARED, `${name}.${what}`);
  writeFileSync(
    file('sh'),
    `#!/usr/bin/env bash
cd ${SHARED}
bash -c 'sleep 1000; :' left-by-${name} &
echo "$CONVEYOR_RUN" >> ${name}.starts
echo "working"
while [ ! -e ${name}.go ]; do sleep 0.1; done
echo "done with $CONVEYOR_RELEASE"
`,
  );
  chmodSync(file('sh'), 0o755);
  await applied(name, { script: { type: 'custom-script', with: { command: [`./${SHARED}/${name}.sh`] } } });
  await stack.json(['release', name]);
  const starts = (): string[] =>
    existsSync(file('starts')) ? readFileSync(file('starts'), 'utf8').trim().split('\n') : [];
  await eventually(`the script of ${name} runs`, async () => starts().length === 1);
  return { name, starts, mayEnd: () => writeFileSync(file('go'), '') };
}

/** The children of this pipeline's scripts that still run: one while its script runs. */
const alive = (name: string): string[] =>
  execFileSync('ps', ['-axo', 'stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => !line.startsWith('Z') && line.endsWith(` left-by-${name}`));

describe('a script on a worker', () => {
  test('says in status what it is doing, decides the release, and leaves nothing running', async () => {
    const { name, mayEnd } = await givenScript();
    await eventually('status shows its last line', async () => (await release(name)).actions[0]?.message === 'working');
    mayEnd();
    expect(await ended(name)).toMatchObject({
      state: 'succeeded',
      actions: [
        { name: 'script', state: 'succeeded', message: expect.stringContaining(`done with ${name}/1`) as string },
      ],
    });
    expect(alive(name)).toEqual([]);
  });

  // Processes of a killed worker are found in /proc.
  const withProc = existsSync('/proc/self/environ') ? test : test.skip;
  withProc(
    'runs again under the same run id when its worker is killed, and never beside what that left behind',
    async () => {
      const { name, starts, mayEnd } = await givenScript();
      await stack.crashWorker();
      const beside: number[] = [];
      // The script runs more than once if the machine is so busy that a heartbeat is late.
      await eventually('the script runs again', async () => {
        beside.push(alive(name).length);
        return starts().length >= 2;
      });
      expect(Math.max(...beside, alive(name).length)).toBe(1);
      mayEnd();
      expect(await ended(name)).toMatchObject({ state: 'succeeded' });
      expect(new Set(starts()).size).toBe(1);
    },
  );

  test('shows what it wrote while it runs, and all of it after it ended', async () => {
    const { name, mayEnd } = await givenScript();
    const id = `${name}/1/script`;
    await eventually(
      'its log has a line',
      async () => own((await stack.client.logs(id)).runs[0]?.log?.head) === 'working\n',
    );
    const following = stack.conveyor(['logs', id, '--follow']);
    mayEnd();
    await ended(name);
    const { code, stdout } = await following;
    expect({ code, wrote: own(stdout) }).toEqual({ code: 0, wrote: `working\ndone with ${name}/1\n` });
    expect(own((await stack.conveyor(['logs', id])).stdout)).toBe(`working\ndone with ${name}/1\n`);
    expect(await stack.client.logs(id)).toMatchObject({ attempt: 1, ended: true, runs: [{ state: 'succeeded' }] });
  });

  test('that was cancelled shows what it wrote until then', async () => {
    const { name } = await givenScript();
    await stack.json(['cancel', `${name}/1`, '--reason', 'not now']);
    await ended(name);
    const { runs } = await stack.client.logs(`${name}/1/script`);
    expect(runs.map(({ state, log }) => [state, own(log?.head)])).toEqual([['cancelled', 'working\n']]);
  });

  test('is stopped with all that it started when its release is cancelled', async () => {
    const { name } = await givenScript();
    await stack.json(['cancel', `${name}/1`, '--reason', 'not now']);
    expect(await ended(name)).toMatchObject({ state: 'cancelled' });
    expect(alive(name)).toEqual([]);
  });
});

test('a script neither reads the secrets of its worker, nor reaches Temporal, nor rewrites the platform, or its log says so', async () => {
  const name = nameOf('attack');
  const [host, port] = stack.temporalAddress.split(':');
  const config = join(stack.home, 'conveyor.config.yaml');
  const before = readFileSync(config, 'utf8');
  const attack = [
    `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q CONVEYOR_TASK_QUEUE=${stack.taskQueue} && echo read environment`,
    `(exec 5<>/dev/tcp/${host}/${port}) && echo reached network`,
    `echo '# broken' >> ${config} && echo wrote files`,
    'exit 0',
  ].join('\n');
  await applied(name, { script: { type: 'custom-script', with: { command: ['bash', '-c', attack] } } });
  await stack.json(['release', name]);
  expect(await ended(name)).toMatchObject({ state: 'succeeded' });
  const log = (await stack.client.logs(`${name}/1/script`)).runs[0]?.log?.head ?? '';
  writeFileSync(config, before);
  const [first = ''] = log.split('\n');
  for (const guarantee of ['environment', 'network', 'files'] as const) {
    const came = new RegExp(`^(read|reached|wrote) ${guarantee}$`, 'm').test(log);
    const saysSo = first.startsWith('conveyor: ') && first.includes(GUARANTEES[guarantee].keepsFrom);
    expect({ guarantee, held: saysSo || !came }).toEqual({ guarantee, held: true });
  }
});

test('a file that a worker was given open is not open in its scripts', async () => {
  const secret = stack.file('secret', 'sesame\n');
  const program = `
    const { createRunner } = require('./dist/sandbox/runner');
    const { parseRegistry } = require('./dist/settings/registry');
    const given = { enabled: true, isolation: 'best-effort', directory: '${stack.home}' };
    const { scripts } = parseRegistry({ scripts: given }, process.env);
    const log = { listen: () => (text) => process.stdout.write(text) };
    const env = { PATH: process.env.PATH };
    const run = { runId: 'open', command: ['bash', '-c', 'cat <&99; echo tried'], env, texts: {}, log };
    createRunner(scripts).start(run).then(async (script) => {
      await script.ended;
      await script.stop();
      await script.silent;
      script.close();
    });`;
  const args = ['-c', 'exec 99<"$0"; exec "$1" -e "$2"', secret, process.execPath, program];
  expect(await stack.processes.start('bash', args, stack.env).ended).toMatchObject({ code: 0, stdout: 'tried\n' });
});

test('a deploy shows what the commands around its phases wrote, one after the other', async () => {
  const shop = await given(stack, {
    deploy: {
      phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '2s', pre: [{ command: ['echo', 'on the way'] }] }],
      completion: { bake: '1s', pre: [{ command: ['printenv', 'CONVEYOR_PHASE'] }] },
    },
  });
  await shop.ships(2);
  await ended(shop.name);
  const { runs } = await stack.client.logs(`${shop.name}/1/deploy`);
  expect(runs.map(({ title, state, log }) => [title, state, own(log?.head)])).toEqual([
    ['first: before the updates: echo', 'succeeded', 'on the way\n'],
    ['completion: before the updates: printenv', 'succeeded', 'completion\n'],
  ]);
});

describe('a release that waits for another pipeline', () => {
  test('says what it waits for, also while there is no such pipeline, and continues once that has succeeded', async () => {
    const [name, other] = [nameOf('waits'), nameOf('other')];
    await applied(name, { wait: { type: 'wait-for', with: { pipeline: other } } });
    await stack.json(['release', name]);
    await eventually('status says that there is no such pipeline', async () =>
      (await release(name)).actions[0]?.message?.includes(`no pipeline ${other}`),
    );
    await applied(other, { script: { type: 'custom-script', with: { command: ['true'] } } });
    await stack.json(['release', other]);
    expect(await ended(name)).toMatchObject({ state: 'succeeded' });
  });

  test('fails when the other has failed', async () => {
    const [name, other] = [nameOf('waits'), nameOf('other')];
    await applied(other, { script: { type: 'custom-script', with: { command: ['false'] } } });
    await stack.json(['release', other]);
    await ended(other);
    await applied(name, { wait: { type: 'wait-for', with: { pipeline: other } } });
    await stack.json(['release', name]);
    expect(await ended(name)).toMatchObject({
      state: 'failed',
      actions: [{ state: 'failed', message: `${other}/1 failed` }],
    });
  });
});
