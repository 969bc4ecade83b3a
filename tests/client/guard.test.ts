import type { ConveyorClient } from '../../client/api';
import { guardClient } from '../../client/guard';
import { CLIENT_OPERATIONS } from '../../client/operations';
import type { Door } from '../../domain/access/operations';
import type { PlatformFacts } from '../../domain/access/platform';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { facts } from '../builders/accessWorld';
import { deploy, release } from '../builders/cliSamples';
import { specOf } from '../builders/pipelineWorld';

const TRIGGER = { kind: 'manual', actor: 'user:alice', key: null } as const;

/** A client that says what it was asked to do, of a pipeline kvstore of group:storage, and stray of mallory. */
function world(over: Partial<ConveyorClient> = {}) {
  const calls: unknown[][] = [];
  const did =
    (name: string) =>
    (...call: unknown[]) => {
      calls.push([name, ...call]);
      return Promise.resolve({} as never);
    };
  const spec = (pipeline: string) =>
    pipeline === 'kvstore' || pipeline === 'stray'
      ? Promise.resolve(
          specOf(['deploy'], { pipeline, owners: [pipeline === 'stray' ? 'user:mallory' : 'group:storage'] }),
        )
      : Promise.reject(conveyorError('unknown-pipeline', { pipeline }));
  const client = {
    ...Object.fromEntries(Object.keys(CLIENT_OPERATIONS).map((name) => [name, did(name)])),
    spec,
    exportPipeline: (pipeline: string) => spec(pipeline).then((known) => ({ spec: known })),
    status: (id: string) => Promise.resolve(id.split('/').length === 3 ? deploy() : release()),
    ...over,
  } as unknown as ConveyorClient;
  const through = (policy: PlatformFacts = facts(), door: Door = 'api') => guardClient(client, () => policy, door);
  return { calls, through };
}

const refused = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.then(
    () => new Error('it was let through'),
    (thrown: unknown) => thrown as Error,
  );
  return error instanceof ConveyorError ? `${error.code}: ${error.message} | ${error.hint}` : error.message;
};

test('a permitted caller passes, with the rule that permits it, so workflows need not know the groups', async () => {
  const { calls, through } = world();
  const client = through();
  await client.command('kvstore/12', 'cancel', { actor: 'user:bob', reason: 'r' });
  await client.release('kvstore', [], TRIGGER);
  await client.rerun('kvstore', 12, { actor: 'user:root' });
  await client.push('kvstore', 'deploy', [], { actor: 'user:alice', reason: 'r' });
  const storage = 'owners of kvstore through group:storage';
  expect(calls).toEqual([
    ['command', 'kvstore/12', 'cancel', { actor: 'user:bob', reason: 'r', permitted: storage }],
    ['release', 'kvstore', [], { ...TRIGGER, permitted: storage }],
    ['rerun', 'kvstore', 12, { actor: 'user:root', permitted: 'platform.admins through group:platform' }],
    ['push', 'kvstore', 'deploy', [], { actor: 'user:alice', reason: 'r', permitted: storage }],
  ]);
});

test('a caller without permission is refused before anything is sent, with the reason and how to ask', async () => {
  const { calls, through } = world();
  const client = through();
  expect(await refused(client.command('kvstore/12/deploy', 'pause', { actor: 'user:mallory', reason: 'r' }))).toBe(
    'not-permitted: user:mallory is not an owner of kvstore: group:storage (user:alice, user:bob) | conveyor can user:mallory pause kvstore/12/deploy explains the decision',
  );
  expect(await refused(client.command('kvstore', 'hold', { reason: 'r' }))).toMatch(/needs an actor who is known/);
  expect(await refused(client.release('kvstore', [], { ...TRIGGER, kind: 'webhook' }))).toMatch(
    /a release of kind webhook cannot be started by hand/,
  );
  expect(await refused(client.submit('kvstore', [], { ...TRIGGER, actor: 'user:mallory', kind: 'webhook' }))).toMatch(
    /not an owner/,
  );
  expect(calls).toEqual([]);
});

test('applying a pipeline that does not exist creates it; one that has ended keeps its owners', async () => {
  const unknown = (pipeline: string) => Promise.reject(conveyorError('unknown-pipeline', { pipeline }));
  const spec = specOf(['deploy'], { owners: ['user:alice'] });
  const gone = world({
    spec: unknown,
    exportPipeline: () => Promise.resolve({ spec: specOf(['deploy'], { owners: ['user:eve'] }) } as never),
  });
  expect(await refused(gone.through().apply(spec, 'user:alice'))).toMatch(
    /user:alice is not an owner of kvstore: user:eve \| conveyor can user:alice apply/,
  );
  const { calls, through } = world({ spec: unknown, exportPipeline: unknown });
  await through().apply(spec, 'user:alice');
  expect(await refused(through().apply({ ...spec, pipeline: 'web-x' }, 'user:alice'))).toMatch(
    /may not create web-x.*conveyor can user:alice create web-x/,
  );
  expect(
    await refused(through().importPipeline({ spec: { ...spec, pipeline: 'web-x' } } as never, 'user:alice')),
  ).toMatch(/may not import/);
  expect(calls).toEqual([['apply', spec, 'user:alice', 'platform.pipelines.0.creators through group:storage']]);
});

test('an owner of a service evicts the deploy that holds its units, and does nothing else to it', async () => {
  const { calls, through } = world();
  const alice = { actor: 'user:alice', reason: 'r' };
  await through().command('stray/13/deploy', 'cancel', alice);
  expect(await refused(through().command('stray/13/deploy', 'pause', alice))).toMatch(/not an owner of stray/);
  expect(await refused(through().command('stray/13', 'cancel', alice))).toMatch(/not an owner of stray/);
  expect(calls).toEqual([
    [
      'command',
      'stray/13/deploy',
      'cancel',
      { ...alice, permitted: 'platform.services.0.owners through group:storage' },
    ],
  ]);
});

test('without a section nothing changes, except that groups never act and callers bring no rule along', async () => {
  const { calls, through } = world();
  const client = through(facts(null));
  await client.command('kvstore', 'hold', { actor: 'user:mallory', reason: 'r', permitted: 'platform.admins' });
  expect(calls).toEqual([['command', 'kvstore', 'hold', { actor: 'user:mallory', reason: 'r' }]]);
  for (const asked of [
    client.command('kvstore/12/deploy', 'pick', { actor: 'group:storage', approve: true }),
    client.apply(specOf(), 'group:storage'),
    client.push('kvstore', 'deploy', [], { actor: 'group:storage', reason: 'r' }),
    through(facts(null), 'webhook').submit('kvstore', [], { ...TRIGGER, actor: 'group:storage' }),
  ])
    expect(await refused(asked)).toMatch(/^not-permitted: group:storage is a group, which never acts/);
});

test('a person who submits by hand owns the pipeline, with a section and without', async () => {
  const { calls, through } = world();
  const submission = { kind: 'webhook', key: 'k' } as const;
  for (const given of [facts(), facts(null)]) {
    const mallory = through(given).submit('kvstore', [], { ...submission, actor: 'user:mallory' });
    expect(await refused(mallory)).toMatch(/user:mallory is not an owner of kvstore/);
    await through(given).submit('kvstore', [], { ...submission, actor: 'user:alice' });
  }
  const by = { permitted: 'owners of kvstore through group:storage' };
  const alice = { ...submission, actor: 'user:alice' };
  expect(calls).toEqual([
    ['submit', 'kvstore', [], { ...alice, ...by }],
    ['submit', 'kvstore', [], alice],
  ]);
});

test('rules of what a pipeline uses come from the configuration alone, as for workers: these do not know who signed in', async () => {
  const { calls, through } = world();
  const { groups: configured } = facts();
  const wendy = { ...facts(), groups: { ...configured, storage: ['user:wendy'], web: ['user:wendy'] }, configured };
  const client = through(wendy);
  const asWendy = specOf(['deploy'], { pipeline: 'storage-new', owners: ['user:wendy'] });
  expect(await refused(client.apply(asWendy, 'user:wendy'))).toMatch(/pipelines of user:wendy may not deploy/);
  await client.apply({ ...asWendy, owners: ['group:storage'] }, 'user:wendy');
  expect(calls.map(([name]) => name)).toEqual(['apply']);
});

test("an approver who is a member of a provider's group brings only that group along", async () => {
  const policy = { ...facts().policy!, protection: [{ ...facts().policy!.protection[0]!, pipelines: ['kvstore'] }] };
  const { calls, through } = world({ status: () => Promise.resolve(release()) });
  const pick = { approve: true, reason: 'r', vouched: ['group:made-up'] };
  const known = { policy, groups: { ...facts().groups, sre: ['user:pat'], dev: ['user:pat'] } };
  await through({ ...known, vouched: ['group:sre', 'group:dev'] }).command('kvstore/13/deploy', 'pick', {
    ...{ ...pick, actor: 'user:pat' },
  });
  await through(known).command('kvstore/13/deploy', 'pick', { ...pick, actor: 'user:pat' });
  expect(calls.map(([, , , input]) => (input as { vouched?: unknown }).vouched)).toEqual([['group:sre'], undefined]);
});

test('the configuration counts as it is at the moment of the request', async () => {
  const groups: Record<string, string[]> = { ...facts().groups, storage: ['user:alice'] };
  const { through } = world();
  const client = through({ ...facts(), groups });
  expect(await refused(client.release('kvstore', [], { ...TRIGGER, actor: 'user:new' }))).toMatch(/not an owner/);
  groups['storage'] = ['user:new'];
  await client.release('kvstore', [], { ...TRIGGER, actor: 'user:new' });
  expect(await refused(client.release('kvstore', [], TRIGGER))).toMatch(/user:alice is not an owner/);
});

test('a delivery needs no owner, and no guard asks about a pipeline without protection', async () => {
  const { calls, through } = world({ spec: () => Promise.reject(new Error('it was asked')) });
  const delivery = { kind: 'webhook', actor: 'service:github', key: 'k' } as const;
  await through(facts(), 'webhook').submit('kvstore', [], delivery);
  expect(calls).toEqual([['submit', 'kvstore', [], delivery]]);
  const lacking = world({ spec: () => Promise.resolve(specOf(['deploy'], { pipeline: 'prod-kv' })) });
  expect(await refused(lacking.through(facts(), 'webhook').submit('prod-kv', [], delivery))).toMatch(
    /platform.protection.0 protects prod-kv/,
  );
  expect(
    await refused(lacking.through(facts(), 'webhook').command('prod-kv', 'hold', { actor: 'service:github' })),
  ).toMatch(/hold does not come in through the door webhook/);
});

test('while no worker answers, a deploy can be stopped by the owners that visibility knows', async () => {
  const silent = (id: string) => Promise.reject(conveyorError('no-worker', { id }));
  const listPipelines = () => Promise.resolve([{ owners: ['user:alice'] } as never]);
  const { calls, through } = world({ spec: silent, listPipelines });
  await through().command('kvstore/12', 'cancel', { actor: 'user:alice', reason: 'r' });
  expect(calls).toHaveLength(1);
  expect(await refused(through().command('kvstore/12', 'cancel', { actor: 'user:eve', reason: 'r' }))).toMatch(
    /^not-permitted/,
  );
  expect(await refused(through().release('kvstore', [], TRIGGER))).toMatch(/^no-worker/);
});

test('readers are asked nothing', async () => {
  const { calls, through } = world();
  await through().history('kvstore');
  await through().logs('kvstore/12/x', 2);
  expect(calls).toEqual([
    ['history', 'kvstore'],
    ['logs', 'kvstore/12/x', 2],
  ]);
});
