import type { ConveyorClient } from '../../client/api';
import { auditClient, URGENT, type Audit } from '../../client/auditClient';
import { guardClient } from '../../client/guard';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { canonicalDigest } from '../../client/operations/entries';
import type { AuditEntry } from '../../domain/audit/record';
import { conveyorError } from '../../domain/errors';
import { DEPLOY_VERBS, PIPELINE_VERBS, RELEASE_VERBS, type Verb } from '../../domain/verbs';
import { facts } from '../builders/accessWorld';
import { specOf } from '../builders/pipelineWorld';

const TRIGGER = { kind: 'manual', actor: 'user:alice', key: null } as const;
const SPEC = specOf(['deploy'], { pipeline: 'kvstore', owners: ['user:alice'] });
const ARTIFACT = { name: 'source', kind: 'source', version: '12', metadata: {} };

class Book implements Audit {
  readonly entries: AuditEntry[] = [];
  full = false;
  ready(): Promise<void> {
    return this.full ? Promise.reject(conveyorError('audit-unwritable', { detail: 'ENOSPC' })) : Promise.resolve();
  }
  record(entry: AuditEntry): Promise<void> {
    this.entries.push(entry);
    return this.full ? new Promise(() => undefined) : Promise.resolve();
  }
}

function world(failure?: Error) {
  const calls: string[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    apply: { created: false, previous: { ...SPEC, owners: ['user:bob'] } },
    importPipeline: { created: true, previous: null },
    command: { id: 'kvstore/12/deploy', accepted: true, effect: 'it is so' },
  };
  const did = (name: string) => () => {
    calls.push(name);
    if (failure !== undefined) return Promise.reject(failure);
    return Promise.resolve(answers[name] ?? { id: 'kvstore/13', number: 13, duplicate: false });
  };
  const client = Object.fromEntries(
    [...Object.keys(CLIENT_OPERATIONS), 'readiness', 'close'].map((name) => [name, did(name)]),
  ) as unknown as ConveyorClient;
  const book = new Book();
  return { calls, book, client: auditClient(() => client, book, 'api') };
}

/** How each operation is called; one that is new fails here until it has a row. */
const CALLS: Readonly<Record<keyof ConveyorClient, (client: ConveyorClient) => Promise<unknown>>> = {
  apply: (client) => client.apply(SPEC, 'user:alice'),
  importPipeline: (client) => client.importPipeline({ pipeline: 'kvstore', spec: SPEC } as never, 'user:alice'),
  release: (client) => client.release('kvstore', [ARTIFACT], TRIGGER),
  submit: (client) => client.submit('kvstore', [ARTIFACT], TRIGGER),
  push: (client) => client.push('kvstore', 'deploy', [ARTIFACT], { actor: 'user:alice', reason: 'it burns' }),
  rerun: (client) => client.rerun('kvstore', 12, { actor: 'user:alice', reason: 'again' }),
  command: (client) => client.command('kvstore/12', 'cancel', { actor: 'user:alice', reason: 'no' }),
  reportBug: (client) => client.reportBug({ target: '//lib:rpc', from: '12', to: null, reason: 'bad' }, 'user:alice'),
  closeBug: (client) => client.closeBug({ id: 'bug/7', to: '15', reason: 'fixed' }, 'user:alice'),
  listBugs: (client) => client.listBugs(),
  lookNow: (client) => client.lookNow('run'),
  exportPipeline: (client) => client.exportPipeline('kvstore'),
  spec: (client) => client.spec('kvstore'),
  status: (client) => client.status('kvstore'),
  listPipelines: (client) => client.listPipelines({ limit: 1 }),
  listReleases: (client) => client.listReleases({ limit: 1 }),
  listDeploys: (client) => client.listDeploys({ limit: 1 }),
  where: (client) => client.where({ revision: '4f0c1d2e', limit: 1 }),
  listFinders: (client) => client.listFinders(),
  freshness: (client) => client.freshness(),
  listOffers: (client) => client.listOffers({ limit: 1 }),
  offers: (client) => client.offers('kvstore'),
  history: (client) => client.history('kvstore'),
  logs: (client) => client.logs('kvstore/12/deploy'),
  readiness: (client) => client.readiness(),
  close: (client) => client.close(),
};

const NAMES = Object.keys(CALLS) as (keyof ConveyorClient)[];
// A run is only polled a little earlier than usual: that changes nothing.
const RECORDED = (Object.keys(CLIENT_OPERATIONS) as (keyof typeof CLIENT_OPERATIONS)[]).filter(
  (name) => !['read', 'look-now'].includes(String(CLIENT_OPERATIONS[name].access)),
);

test.each(NAMES)(
  '%s is on record if it is decided as something else than reading, done or refused, and answers as before',
  async (name) => {
    const done = world();
    await CALLS[name](done.client);
    const no = world(conveyorError('not-permitted', { actor: 'user:alice', pipeline: 'kvstore' }));
    await expect(CALLS[name](no.client)).rejects.toMatchObject({ code: 'not-permitted' });
    expect([done.calls, no.calls]).toEqual([[name], [name]]);
    const isRecorded = RECORDED.some((one) => one === name);
    const about = { actor: 'user:alice', door: 'api' };
    expect(done.book.entries).toMatchObject(isRecorded ? [{ ...about, outcome: 'accepted' }] : []);
    const result = expect.stringMatching(/^not-permitted: user:alice is not an owner/) as string;
    expect(no.book.entries).toMatchObject(isRecorded ? [{ ...about, outcome: 'refused', result }] : []);
  },
);

test('an apply has the digests of both specs and what differs', async () => {
  const { book, client } = world();
  await client.apply(SPEC, 'user:alice');
  expect(book.entries[0]).toMatchObject({
    ...{ operation: 'apply', target: 'kvstore', result: 'changed', omitted: 0 },
    ...{ before: canonicalDigest({ ...SPEC, owners: ['user:bob'] }), after: canonicalDigest(SPEC) },
    changes: [{ path: 'owners', from: '["user:bob"]', to: '["user:alice"]' }],
  });
});

test('a release, an emergency and a command say what they brought, why, and what came of it', async () => {
  const { book, client } = world();
  await client.push('kvstore', 'deploy', [ARTIFACT], { actor: 'user:alice', reason: 'it burns' });
  await client.command('kvstore/12', 'freeze', { actor: 'user:alice', reason: 'feast', until: '2026-12-27T06:00:00Z' });
  const brought = [{ path: 'source', from: null, to: '"12"' }];
  expect(book.entries).toMatchObject([
    { operation: 'push', target: 'kvstore', reason: 'it burns', result: 'kvstore/13', changes: brought },
    {
      ...{ operation: 'freeze', target: 'kvstore/12/deploy', reason: 'feast', result: 'it is so' },
      changes: [{ path: 'until', to: '"2026-12-27T06:00:00Z"' }],
    },
  ]);
});

/** Behind the guard, by the rules of the company. */
function guardedWorld(over: Partial<ConveyorClient> = {}, door: 'api' | 'webhook' = 'api') {
  const { book, calls } = world();
  const spec = () => Promise.resolve({ ...SPEC, owners: ['group:storage'] });
  const inner = { command: () => Promise.reject(new Error('it was let through')), spec, ...over } as ConveyorClient;
  return {
    book,
    calls,
    client: auditClient((decided) => guardClient(inner, () => facts(), door, decided), book, door),
  };
}

test('the audit records a refusal of the guard with the rule that would allow it', async () => {
  const { book, calls, client } = guardedWorld();
  await expect(client.command('kvstore', 'hold', { actor: 'user:eve', reason: 'r' })).rejects.toThrow();
  await expect(client.apply({ ...SPEC, owners: ['user:eve'], pipeline: 'web-x' }, 'user:eve')).rejects.toThrow();
  expect(book.entries).toMatchObject([
    { actor: 'user:eve', operation: 'hold', outcome: 'refused', reason: 'r', permitted: null },
    { operation: 'apply', outcome: 'refused', permitted: null },
  ]);
  expect(book.entries.map(({ result }) => result)).toEqual([
    expect.stringMatching(/^not-permitted: user:eve is not an owner of kvstore: group:storage/),
    expect.stringMatching(/^not-permitted: .*/),
  ]);
  expect(calls).toEqual([]);
});

test('the audit records each request that the guard lets through with the rule that allowed it', async () => {
  const command = () => Promise.resolve({ id: 'kvstore', accepted: true, effect: 'it is so' } as const);
  const { book, client } = guardedWorld({ command });
  await Promise.all([
    client.command('kvstore', 'hold', { actor: 'user:alice', reason: 'r' }),
    client.command('kvstore', 'hold', { actor: 'user:root', reason: 'r' }),
  ]);
  expect(book.entries.map(({ actor, permitted }) => [actor, permitted]).sort()).toEqual([
    ['user:alice', 'owners of kvstore through group:storage'],
    ['user:root', 'platform.admins through group:platform'],
  ]);
  const submit = () => Promise.resolve({ id: null, number: null, duplicate: false });
  const webhook = guardedWorld({ submit }, 'webhook');
  await webhook.client.submit('kvstore', [ARTIFACT], { kind: 'webhook', actor: 'service:github', key: null });
  expect(webhook.book.entries).toMatchObject([{ permitted: 'its delivery' }]);
});

test('the record of a request that is permitted and then refused by its pipeline has both', async () => {
  const command = () =>
    Promise.reject(conveyorError('invalid-state', { verb: 'hold', id: 'kvstore', why: 'it is held' }));
  const { book, client } = guardedWorld({ command });
  await expect(client.command('kvstore', 'hold', { actor: 'user:root', reason: 'r' })).rejects.toThrow();
  expect(book.entries).toMatchObject([
    {
      outcome: 'refused',
      permitted: 'platform.admins through group:platform',
      result: expect.stringMatching(/^invalid-state/),
    },
  ]);
});

test.each([
  ['nobody answered', conveyorError('temporal-unreachable', { address: 'a', detail: 'd' })],
  ['nobody foresaw what happened', new Error('boom')],
])('when %s, the record says that it is not known whether it was done', async (_why, error) => {
  const { book, client } = world(error);
  await expect(CALLS.release(client)).rejects.toBe(error);
  expect(book.entries).toMatchObject([{ outcome: 'unknown' }]);
});

describe('while nothing can be written', () => {
  test.each(RECORDED.filter((name) => name !== 'command' && name !== 'reportBug'))(
    '%s is refused before it is done',
    async (name) => {
      const { book, calls, client } = world();
      book.full = true;
      await expect(CALLS[name](client)).rejects.toMatchObject({ code: 'audit-unwritable' });
      expect(calls).toEqual([]);
    },
  );

  test('a bug is reported all the same, since that makes things safer', async () => {
    const { book, calls, client } = world();
    book.full = true;
    await CALLS.reportBug(client);
    expect([calls, book.entries.length]).toEqual([['reportBug'], 1]);
  });

  const VERBS: readonly Verb[] = [...new Set([...DEPLOY_VERBS, ...RELEASE_VERBS, ...PIPELINE_VERBS])];
  test.each(VERBS)('%s is done if it makes things safer, and else refused', async (verb) => {
    const { book, calls, client } = world();
    book.full = true;
    const asked = client.command('kvstore/12', verb, { actor: 'user:alice', reason: 'r' });
    if (URGENT.includes(verb)) await expect(asked).resolves.toMatchObject({ accepted: true });
    else await expect(asked).rejects.toMatchObject({ code: 'audit-unwritable' });
    expect(calls).toEqual(URGENT.includes(verb) ? ['command'] : []);
    expect(book.entries).toHaveLength(calls.length);
  });
});
