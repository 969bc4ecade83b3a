import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePorts } from '../../cli/stack/ports';
import type { Me } from '../../client/operations/questions';
import type { AuditRecord } from '../../domain/audit/record';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { PipelineStatus, ReleaseStatus } from '../../domain/views';
import { startFront, type Front } from './front';
import { browse, People } from './people';
import { secured } from './secured';
import { addJobs, Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let front: Front;
let issuer: string;
let people: People;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  issuer = `http://127.0.0.1:${port}`;
  stack = await Stack.open(
    secured({
      signIn: [{ issuer, client: 'conveyor-cli', scopes: ['openid', 'offline_access'], groups: 'groups' }],
      groups: {},
      platform: {
        admins: ['user:carol'],
        pipelines: [{ names: ['shop-*'], creators: ['group:storage'] }],
        services: [{ pushType: 'twine', units: ['shop-*'], owners: ['group:storage'] }],
        uses: [{ kind: 'action-service', names: ['build'], by: ['group:storage'] }],
        protection: [{ pipelines: ['shop-first'], approvals: { count: 1, by: ['group:sre'] } }],
      },
    }),
  );
  // Tokens that must be renewed at every command.
  const provider = stack.processes.node('tests/system/identityProvider.mjs', [String(port), '30'], stack.env);
  await provider.said(/ready/);
  front = await startFront(stack);
  people = new People(stack, front);
});
afterAll(() => stack.close());

test('a user signs in with a browser, and groups of the provider then decide permissions', async () => {
  await people.signsIn('alice');
  expect(await stack.json<Me>(['whoami'], people.env('alice'))).toMatchObject({
    ...{ principal: 'user:alice', groups: ['group:storage'], door: 'oidc' },
    expiresAt: expect.any(String) as string,
  });
  const shop = new Service(stack, 'shop-of-a-group', { pipeline: { owners: ['group:storage'] } });
  await addJobs(shop);
  await people.works('alice', 'apply', shop.file);
  await people.works('alice', 'freeze', shop.name, '--reason', 'holidays');
  await people.signsIn('mallory');
  const { code, stderr } = await people.types('mallory', 'unfreeze', shop.name, '--reason', 'mine');
  expect([code, stderr]).toEqual([4, expect.stringContaining('not-permitted')]);
  const { frozen } = await stack.json<PipelineStatus>(['status', shop.name], people.env('alice'));
  expect(frozen).toMatchObject({ actor: 'user:alice', reason: 'holidays' });
});

test('a new user signs in, creates a pipeline and releases it, a second person approves, and the audit has both names', async () => {
  await Promise.all(['alice', 'bob', 'carol'].map((name) => people.signsIn(name)));
  const [name, file] = ['shop-first', join(stack.home, 'first.yaml')];
  await people.works('alice', 'init', name, '--file', file);
  const mine = readFileSync(file, 'utf8');
  expect(mine).toContain('owners: [user:alice]');
  await people.works('alice', 'simulate', 'job', name, '--tasks', '6');
  expect(await people.types('alice', 'apply', file)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('emergency needs 1 approval and has 0') as string,
  });
  stack.file('first.yaml', approvedFirst(mine));
  await people.works('alice', 'apply', file);
  await people.works('alice', 'release', name, '--artifact', 'source=1');
  const release = async () => (await stack.client.status(`${name}/1`)) as ReleaseStatus;
  await eventually('it waits for a person', async () =>
    (await release()).actions.some(({ pickBy }) => pickBy !== null),
  );
  const approve = ['pick', `${name}/1/approve`, '--approve', '--reason', 'seen the graphs'];
  const alone = await people.types('alice', ...approve);
  expect([alone.code, alone.stderr]).toEqual([4, expect.stringContaining('wants a second person')]);
  await people.works('bob', ...approve);
  await eventually('it has succeeded', async () => (await release()).state === 'succeeded');

  const asked = ['audit', '--pipeline', name];
  const records = await stack.json<AuditRecord[]>(asked, people.env('alice'));
  expect(records.map(({ actor, door, operation, outcome }) => [actor, door, operation, outcome])).toEqual([
    ['user:bob', 'api', 'pick', 'accepted'],
    ['user:alice', 'api', 'pick', 'refused'],
    ['user:alice', 'api', 'release', 'accepted'],
    ['user:alice', 'api', 'apply', 'accepted'],
    ['user:alice', 'api', 'apply', 'refused'],
  ]);
  expect(records[0]).toMatchObject({ target: `${name}/1/approve`, reason: 'seen the graphs' });
  expect(await people.works('carol', 'audit', '--verify')).toMatch(/✔ changes: \d+ records? holds?/);
  expect(await people.works('carol', 'audit', '--actor', 'user:bob')).toMatch(/user:bob +✔ pick +shop-first/);
});

/**
 * The file after a new user's edits: the group owns it, a person approves, and it has the fields that the error asked
 * for; in seconds instead of minutes.
 */
function approvedFirst(text: string): PipelineSource {
  const { actions, ...source } = parse(text) as PipelineSource;
  const { deploy } = actions;
  if (deploy?.type !== 'deploy') throw new Error('init writes a deploy');
  const quick = {
    phases: [{ name: 'first', scope: '*', amount: 3, bake: '1s' }],
    completion: { bake: '1s' },
    healthInterval: '250ms',
    healthChecks: [],
  };
  return {
    ...{ ...source, owners: ['group:storage'], emergency: { approvals: 1 } },
    actions: {
      ...actions,
      approve: { type: 'manual-pick', needs: ['build'] },
      deploy: { ...deploy, needs: ['approve'], with: { ...deploy.with, ...quick } },
    },
  };
}

test('where there is no browser, a code that is typed elsewhere does', async () => {
  const running = people.login('alice', '--device');
  const [, url = '', code = ''] = await running.complained(/open (\S+) and enter (\S+)/);
  await browse(url, 'alice', { user_code: code });
  expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('user:alice') as string });
});

test('an expiring token is renewed by itself, until logout', async () => {
  await people.signsIn('alice');
  const file = join(stack.home, 'alice', 'conveyor', 'credentials.json');
  const kept = (): { renewal: { refreshToken: string } } => JSON.parse(readFileSync(file, 'utf8')) as never;
  const first = kept();
  // It ends within the minute before which tokens are renewed.
  await people.works('alice', 'whoami');
  // A token issued in the same second is identical.
  expect(kept().renewal.refreshToken).not.toBe(first.renewal.refreshToken);
  const last = readFileSync(file);
  expect(await people.types('alice', 'logout')).toMatchObject({ code: 0, stderr: '' });
  // A stored copy renews nothing.
  writeFileSync(file, last, { mode: 0o600 });
  expect(await people.types('alice', 'whoami')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('sign-in-failed') as string,
  });
});

test('commands that run at once renew one after another, since a provider takes everything back from who renews twice', async () => {
  await people.signsIn('alice');
  const commands = Array.from({ length: 4 }, () => people.types('alice', 'whoami'));
  expect((await Promise.all(commands)).map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
  await people.works('alice', 'whoami');
});

test('reading needs a token, and a sign-in without one shows where', async () => {
  expect((await fetch(`${front.url}/v1/pipelines`)).status).toBe(401);
  expect(await (await fetch(`${front.url}/v1/sign-in`)).json()).toEqual([
    { issuer, client: 'conveyor-cli', scopes: ['openid', 'offline_access'] },
  ]);
});
