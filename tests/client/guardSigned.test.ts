import type { ConveyorClient } from '../../client/api';
import { auditClient, type Audit } from '../../client/auditClient';
import { guardClient } from '../../client/guard';
import { CLIENT_OPERATIONS } from '../../client/operations';
import type { Door } from '../../domain/access/operations';
import type { AuditEntry } from '../../domain/audit/record';
import { ConveyorError } from '../../domain/errors';
import { CONFIG, facts } from '../builders/accessWorld';
import { specOf } from '../builders/pipelineWorld';
import { artifact, signed, signer } from '../builders/signing';

const ci = signer();
const FACTS = facts({
  ...CONFIG.platform,
  keys: { ci: ci.pem },
  protection: [{ pipelines: ['kvstore'], signed: { by: ['ci'] } }],
});
const TRIGGER = { kind: 'manual', actor: 'user:alice', key: null } as const;
const PUSH = { actor: 'user:alice', reason: 'outage' };

/** The result at a door, the calls that reached the client, and the audit. */
async function asked(ask: (client: ConveyorClient) => Promise<unknown>, door: Door = 'api') {
  const calls: string[] = [];
  const entries: AuditEntry[] = [];
  const did = (name: string) => () => {
    calls.push(name);
    return Promise.resolve({ id: 'kvstore/1', releases: [] });
  };
  const client = {
    ...Object.fromEntries(Object.keys(CLIENT_OPERATIONS).map((name) => [name, did(name)])),
    spec: (pipeline: string) => Promise.resolve(specOf(['deploy'], { pipeline, owners: ['group:storage'] })),
  } as unknown as ConveyorClient;
  const audit: Audit = {
    ready: () => Promise.resolve(),
    record: (entry) => Promise.resolve(void entries.push(entry)),
  };
  const error = await ask(auditClient((decided) => guardClient(client, () => FACTS, door, decided), audit, door)).then(
    () => null,
    (thrown: unknown) => thrown as ConveyorError,
  );
  return { calls, code: error?.code ?? null, exit: error?.exit, message: error?.message, entries };
}

test.each<[string, (client: ConveyorClient, one: ReturnType<typeof artifact>) => Promise<unknown>, Door]>([
  ['a release', (client, one) => client.release('kvstore', [one], TRIGGER), 'api'],
  [
    'one of an admin, who goes past by an emergency only',
    (client, one) => client.release('kvstore', [one], { ...TRIGGER, actor: 'user:root' }),
    'command-line',
  ],
  ['an emergency', (client, one) => client.push('kvstore', 'deploy', [one], PUSH), 'api'],
  [
    'a delivery',
    (client, one) => client.submit('kvstore', [one], { kind: 'webhook', actor: 'service:github', key: 'k' }),
    'webhook',
  ],
])('%s with an unsigned artifact is refused at the door, in words and on record', async (_what, ask, door) => {
  const { calls, entries, ...refused } = await asked((client) => ask(client, artifact('kv:12')), door);
  expect(refused).toEqual({
    ...{ code: 'unsigned', exit: 4 },
    message:
      'platform.protection.0 protects kvstore: executable@kv:12 is not signed: it takes a signature of the key ci and has none; its metadata has no attestation',
  });
  expect(calls).toEqual([]);
  expect(entries).toMatchObject([{ outcome: 'refused', result: expect.stringContaining('unsigned') as string }]);
  const through = await asked((client) => ask(client, signed('kv:12', ci)), door);
  expect({ code: through.code, calls: through.calls.length }).toEqual({ code: null, calls: 1 });
});

test('an emergency of an admin goes past it, and is on record with what it brought', async () => {
  const root = { ...PUSH, actor: 'user:root' };
  const { code, calls, entries } = await asked((client) => client.push('kvstore', 'deploy', [artifact('kv:12')], root));
  expect({ code, calls }).toEqual({ code: null, calls: ['push'] });
  expect(entries).toMatchObject([{ actor: 'user:root', operation: 'push', outcome: 'accepted' }]);
});

test('a release without artifacts, of the latest known, is for the workers to judge', async () => {
  expect(await asked((client) => client.release('kvstore', [], TRIGGER))).toMatchObject({
    code: null,
    calls: ['release'],
  });
});

test('other pipelines are asked nothing', async () => {
  const one = artifact('kv:12');
  expect(await asked((client) => client.release('storage-x', [one], TRIGGER))).toMatchObject({ code: null });
});
