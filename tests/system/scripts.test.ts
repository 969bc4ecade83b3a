import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ReleaseStatus } from '../../domain/views';
import { given } from './service';
import { OWNER, Stack } from './stack';
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

/** A pipeline of one script, which starts a child, says so, and waits until it may go on. */
async function givenScript(): Promise<{ name: string; starts: () => string[]; mayEnd: () => void }> {
  const name = nameOf('script');
  const file = (what: string): string => join(stack.home, `${name}.${what}`);
  writeFileSync(
    file('sh'),
    `#!/usr/bin/env bash
sleep 1000 &
echo "$$ $! $CONVEYOR_RUN" >> ${name}.starts
echo "working"
while [ ! -e ${name}.go ]; do sleep 0.1; done
echo "done with $CONVEYOR_RELEASE"
`,
  );
  chmodSync(file('sh'), 0o755);
  await applied(name, { script: { type: 'custom-script', with: { command: [`./${name}.sh`] } } });
  await stack.json(['release', name]);
  const starts = (): string[] =>
    existsSync(file('starts')) ? readFileSync(file('starts'), 'utf8').trim().split('\n') : [];
  await eventually(`the script of ${name} runs`, async () => starts().length === 1);
  return { name, starts, mayEnd: () => writeFileSync(file('go'), '') };
}

/** The processes of one start of the script that still run. */
const alive = (start: string): string[] =>
  start
    .split(' ')
    .slice(0, 2)
    .filter((pid) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));

describe('a script on a worker', () => {
  test('says in status what it is doing, decides the release, and leaves nothing running', async () => {
    const { name, starts, mayEnd } = await givenScript();
    await eventually('status shows its last line', async () => (await release(name)).actions[0]?.message === 'working');
    mayEnd();
    expect(await ended(name)).toMatchObject({
      state: 'succeeded',
      actions: [
        { name: 'script', state: 'succeeded', message: expect.stringContaining(`done with ${name}/1`) as string },
      ],
    });
    expect(starts().flatMap(alive)).toEqual([]);
  });

  // What a killed worker left behind is found in /proc.
  const withProc = existsSync('/proc/self/environ') ? test : test.skip;
  withProc(
    'runs again under the same run id when its worker is killed, and never beside what that left behind',
    async () => {
      const { name, starts, mayEnd } = await givenScript();
      await stack.crashWorker();
      await eventually('the script runs again', async () => starts().length === 2);
      const [first = '', second = ''] = starts();
      expect(alive(first)).toEqual([]);
      expect(alive(second)).toHaveLength(2);
      expect(second.split(' ')[2]).toBe(first.split(' ')[2]);
      mayEnd();
      expect(await ended(name)).toMatchObject({ state: 'succeeded' });
      expect(starts()).toHaveLength(2);
    },
  );

  test('shows what it wrote while it runs, and all of it after it ended', async () => {
    const { name, mayEnd } = await givenScript();
    const id = `${name}/1/script`;
    await eventually(
      'its log has a line',
      async () => (await stack.client.logs(id)).runs[0]?.log?.head === 'working\n',
    );
    const following = stack.conveyor(['logs', id, '--follow']);
    mayEnd();
    await ended(name);
    expect(await following).toMatchObject({ code: 0, stdout: `working\ndone with ${name}/1\n` });
    expect((await stack.conveyor(['logs', id])).stdout).toBe(`working\ndone with ${name}/1\n`);
    expect(await stack.client.logs(id)).toMatchObject({ attempt: 1, ended: true, runs: [{ state: 'succeeded' }] });
  });

  test('that was cancelled shows what it wrote until then', async () => {
    const { name } = await givenScript();
    await stack.json(['cancel', `${name}/1`, '--reason', 'not now']);
    await ended(name);
    const { runs } = await stack.client.logs(`${name}/1/script`);
    expect(runs).toMatchObject([{ state: 'cancelled', log: { head: 'working\n' } }]);
  });

  test('is stopped with all that it started when its release is cancelled', async () => {
    const { name, starts } = await givenScript();
    await stack.json(['cancel', `${name}/1`, '--reason', 'not now']);
    expect(await ended(name)).toMatchObject({ state: 'cancelled' });
    expect(starts().flatMap(alive)).toEqual([]);
  });
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
  expect((await stack.client.logs(`${shop.name}/1/deploy`)).runs).toMatchObject([
    { title: 'first: before the updates: echo', state: 'succeeded', log: { head: 'on the way\n' } },
    { title: 'completion: before the updates: printenv', state: 'succeeded', log: { head: 'completion\n' } },
  ]);
});

describe('a release that waits for another pipeline', () => {
  test('says what it waits for, also while there is no such pipeline, and goes on once that has succeeded', async () => {
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
