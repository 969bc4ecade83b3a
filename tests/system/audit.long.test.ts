import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AuditRecord } from '../../domain/audit/record';
import { ask, startFront, TOKEN, type Front } from './front';
import type { Ended } from './process';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

const EVE = 'a-token-of-somebody-who-owns-nothing';
const ROOT = 'a-token-of-an-admin-of-the-platform';

let stack: Stack;
let front: Front;
let name: string;
let audit: string;
let env: Record<string, string>;
/** Rewrites the configuration of the server. */
let configured: (admins: readonly string[]) => string;
beforeAll(async () => {
  stack = await Stack.open();
  name = (await given(stack, { pipeline: { owners: ['user:alice', 'service:ci'] } })).name;
  audit = join(stack.home, 'audit.jsonl');
  const config = parse(readFileSync(stack.env['CONVEYOR_CONFIG'] ?? '', 'utf8')) as { tokens: object[] };
  // Only for the server: the rights of its worker are another story.
  configured = (admins) =>
    stack.file('server.config.yaml', {
      ...config,
      audit: { file: audit },
      platform: { admins, pipelines: [{ names: ['*'], creators: ['service:ci'] }] },
      tokens: [
        ...config.tokens,
        { principal: 'user:eve', tokenEnv: 'CONVEYOR_EVE_TOKEN' },
        { principal: 'user:root', tokenEnv: 'CONVEYOR_ROOT_TOKEN' },
      ],
    });
  env = { CONVEYOR_CONFIG: configured(['user:root']), CONVEYOR_EVE_TOKEN: EVE, CONVEYOR_ROOT_TOKEN: ROOT };
  front = await startFront(stack, 0, env);
});
afterAll(() => stack.close());

const types = (token: string, ...words: string[]): Promise<Ended> =>
  stack.conveyor(words, { CONVEYOR_SERVER: front.url, CONVEYOR_TOKEN: token, CONVEYOR_ACTOR: '' });

async function recorded(...words: string[]): Promise<readonly AuditRecord[]> {
  const { code, stdout, stderr } = await types(ROOT, 'audit', '--limit', '1000', ...words, '-o', 'json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as readonly AuditRecord[];
}

const command = (verb: string, reason: string) =>
  ask<unknown>(front, 'POST', `/v1/pipelines/${name}/commands/${verb}`, { reason });

test('commands of an owner and refusals of a stranger, by the command line and over HTTP, are recorded with the rule', async () => {
  expect(await types(TOKEN, 'hold', name, '--reason', 'typed')).toMatchObject({ code: 0 });
  expect(await command('unhold', 'posted')).toMatchObject({ status: 200 });
  expect(await types(EVE, 'hold', name, '--reason', 'mine now')).toMatchObject({ code: 4 });
  expect(await types('a-token-that-somebody-guessed', 'hold', name, '--reason', 'guessed')).toMatchObject({ code: 4 });
  expect(await types(EVE, 'audit', '--pipeline', name)).toMatchObject({ code: 4 });

  expect((await recorded('--pipeline', name, '--outcome', 'accepted')).toReversed()).toMatchObject([
    { actor: 'service:ci', operation: 'hold', reason: 'typed', door: 'api', permitted: `owners of ${name}` },
    { actor: 'service:ci', operation: 'unhold', reason: 'posted', door: 'api', permitted: `owners of ${name}` },
  ]);
  const refused = await recorded('--outcome', 'refused');
  expect(refused.find(({ actor }) => actor === 'user:eve')).toMatchObject({
    ...{ operation: 'hold', target: name, reason: 'mine now', permitted: null },
    result: expect.stringContaining(`user:eve is not an owner of ${name}: `),
  });
  expect(refused.find(({ operation }) => operation === 'come-in')).toMatchObject({ actor: null });
});

test('a server that is killed while it writes has on record each command that it answered and that was not urgent, and its chains hold', async () => {
  const answered: string[] = [];
  const busy = (async () => {
    for (let n = 0; ; n += 1) {
      const reason = `change ${n}`;
      const { status } = await command(n % 2 === 0 ? 'hold' : 'unhold', reason);
      // A hold is urgent, so its answer does not wait for the disk.
      if (status === 200 && n % 2 === 1) answered.push(reason);
    }
  })().catch(() => undefined);
  await eventually('some were answered', () => Promise.resolve(answered.length >= 3));
  front.process.kill('SIGKILL');
  await front.process.ended;
  await busy;
  front = await startFront(stack, 0, env);
  await command('unhold', 'afterwards');
  const reasons = (await recorded('--pipeline', name)).map(({ reason }) => reason);
  expect(reasons).toEqual(expect.arrayContaining([...answered]));
  const { code, stdout } = await types(ROOT, 'audit', '--verify');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/changes: \d+ records? holds?.*\n.*refusals: \d+ records? holds?/),
  ]);
});

test('rules count as the file has them while the server runs, each on record, and a broken file takes nothing away', async () => {
  const eveReads = async () => {
    const { status } = await fetch(`${front.url}/v1/audit`, { headers: { authorization: `Bearer ${EVE}` } });
    return status;
  };
  const isInvalid = async () => /^conveyor_config_invalid ([01])$/m.exec(await metrics())?.[1] === '1';
  const metrics = async () => (await fetch(`${front.url}/metrics`)).text();
  expect(await eveReads()).toBe(403);
  configured(['user:root', 'user:eve']);
  await eventually('eve is an admin', async () => (await eveReads()) === 200);
  stack.file('server.config.yaml', 'groups: {');
  await eventually('the file does not count', isInvalid);
  expect(await eveReads()).toBe(200);
  configured(['user:root']);
  await eventually('eve is none any more', async () => (await eveReads()) === 403);
  expect(await isInvalid()).toBe(false);
  const changes = (await recorded()).filter(({ operation }) => operation === 'configure');
  expect(changes.map(({ before, after }) => [before, after])).toEqual([
    [changes[1]?.after, changes[2]?.after],
    [changes[2]?.after, expect.any(String)],
    [null, expect.any(String)],
  ]);
});

test('one changed byte is found, with the record and its line', async () => {
  const text = readFileSync(audit, 'utf8');
  const lines = text.split('\n');
  const line = lines.findIndex((one) => one.includes('"posted"')) + 1;
  const { seq } = JSON.parse(lines[line - 1] ?? '') as AuditRecord;
  writeFileSync(audit, text.replace('"posted"', '"pasted"'));
  for (const where of [[], ['--file', audit]]) {
    const { code, stdout } = await types(ROOT, 'audit', '--verify', ...where);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`changes: broken at record ${seq} (${audit}:${line})`)]);
    expect(stdout).toContain('it was changed after it was written');
  }
});
