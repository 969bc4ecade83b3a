import type { Payload, SerializationContext } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common';
import fc from 'fast-check';
import { SealCodec, type Seal } from '../../client/seal';
import { parseRegistry } from '../../settings/registry';
import { requireKeys } from '../../settings/seal';

const key = (id: string) => ({ id, secret: Buffer.alloc(32, id) });
const OLD: Seal = { keys: [key('2025')], unsealed: 'refuse' };
const BOTH: Seal = { keys: [key('2026'), key('2025')], unsealed: 'refuse' };
const NEW: Seal = { keys: [key('2026')], unsealed: 'refuse' };

const to = (workflowId: string, namespace = 'default'): SerializationContext => ({
  type: 'workflow',
  ...{ namespace, workflowId },
});
const activity = (activityId: string): SerializationContext => ({
  type: 'activity',
  ...{ namespace: 'default', workflowId: 'deploy/a', activityId, isLocal: false },
});

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value) as Payload;
const seal = async (by: Seal, value: unknown, context?: SerializationContext): Promise<Payload> =>
  (await new SealCodec(by).encode([payloadOf(value)], context))[0] as Payload;
/** As a workflow gets it. */
const read = async (by: Seal, payload: Payload, context?: SerializationContext): Promise<unknown> =>
  defaultPayloadConverter.fromPayload((await new SealCodec(by).decode([payload], context))[0] as Payload);

const WORD = { actor: 'user:alice' };

test('a message of a holder of the key arrives, and stays readable for all', async () => {
  const sealed = await seal(OLD, WORD, to('deploy/a'));
  expect(await read(OLD, sealed, to('deploy/a'))).toEqual(WORD);
  expect(defaultPayloadConverter.fromPayload(sealed)).toEqual(WORD);
});

test.each<[string, SerializationContext, SerializationContext]>([
  ['another workflow', to('deploy/a'), to('deploy/b')],
  ['another namespace', to('deploy/a'), to('deploy/a', 'staging')],
  ['the result of another activity', activity('1'), activity('2')],
  ['an activity instead of its workflow', to('deploy/a'), activity('1')],
])('a message for one recipient means nothing to %s', async (_, meant, given) =>
  expect(await read(OLD, await seal(OLD, WORD, meant), given)).toBeUndefined(),
);

test('the runs of a Schedule, whose ids end in when they were due, leave each other their results', async () => {
  const [first, second] = ['sweep/commits-2026-11-23T10:00:00Z', 'sweep/commits-2026-11-23T10:00:10Z'].map((id) =>
    to(id),
  );
  expect(await read(OLD, await seal(OLD, WORD, first), second)).toEqual(WORD);
  expect(await read(OLD, await seal(OLD, WORD, to('sweep/commits')), second)).toEqual(WORD);
});

test('a key is replaced while everything continues: believed first, then signing, then forgotten', async () => {
  const [before, after] = [await seal(OLD, WORD, to('a')), await seal(BOTH, WORD, to('a'))];
  expect([await read(BOTH, before, to('a')), await read(BOTH, after, to('a'))]).toEqual([WORD, WORD]);
  expect([await read(NEW, before, to('a')), await read(NEW, after, to('a'))]).toEqual([undefined, WORD]);
});

test('a message that is not sealed counts for nothing, unless it is accepted for the sake of workflows that began before', async () => {
  expect(await read(OLD, payloadOf(WORD), to('a'))).toBeUndefined();
  expect(await read({ ...OLD, unsealed: 'accept' }, payloadOf(WORD), to('a'))).toEqual(WORD);
  // A wrong signature is no missing one.
  const forged = await seal(
    { keys: [{ id: '2025', secret: Buffer.alloc(32, 'x') }], unsealed: 'refuse' },
    WORD,
    to('a'),
  );
  expect(await read({ ...OLD, unsealed: 'accept' }, forged, to('a'))).toBeUndefined();
});

test('one bit that is changed, anywhere in what is sealed, makes it nothing, and never an error', () =>
  fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('data', 'conveyor-seal', 'conveyor-for', 'encoding'),
      async (value, nth, part) => {
        const sealed = await seal(OLD, value, to('deploy/a'));
        const bytes = Buffer.from((part === 'data' ? sealed.data : sealed.metadata?.[part]) ?? []);
        const at = nth % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        const changed: Payload =
          part === 'data' ? { ...sealed, data: bytes } : { ...sealed, metadata: { ...sealed.metadata, [part]: bytes } };
        expect(await read(OLD, changed, to('deploy/a'))).toBeUndefined();
      },
    ),
  ));

describe('the keys of the configuration', () => {
  const section = { seal: { keysEnv: 'KEYS' } };
  const secret = Buffer.alloc(32, 7).toString('base64');
  const parse = (KEYS: string | undefined) => parseRegistry(section, { KEYS }).seal;

  test('are read from the variable that it names, the first of which signs', () =>
    expect(parse(`b:${secret}, a:${secret}`)?.keys.map(({ id }) => id)).toEqual(['b', 'a']));

  test.each([
    ['without a name', secret],
    ['too short', `a:${Buffer.alloc(31).toString('base64')}`],
    ['no base64', 'a:not base64 at all'],
    ['twice under one name', `a:${secret},a:${secret}`],
  ])('are refused where one is %s, and never shown', (_, keys) => {
    expect(() => parse(keys)).toThrow(/KEYS/);
    expect(() => parse(keys)).not.toThrow(secret);
  });

  test('must exist if the rules rely on identities; others may look', () => {
    expect(parse(undefined)).toMatchObject({ keys: [] });
    expect(() => requireKeys(parse(undefined), 'conveyor.config.yaml')).toThrow(/KEYS, which is not set/);
    expect(requireKeys(parseRegistry({}, {}).seal, 'conveyor.config.yaml')).toBeNull();
  });

  test('leave no way around the rules of the platform without a warning', () => {
    const warnings = (config: object) => parseRegistry(config, { KEYS: `a:${secret}` }).warnings;
    expect(warnings({ platform: { admins: ['user:alice'] } })).toEqual([
      'platform: without seal, any process that reaches Temporal bypasses these rules (docs/guides/secure.md)',
    ]);
    expect(warnings({ platform: { admins: ['user:alice'] }, ...section })).toEqual([]);
    expect(warnings({ seal: { ...section.seal, unsealed: 'accept' } })).toEqual([
      'seal.unsealed: accept: any process that reaches Temporal is trusted',
    ]);
    expect(warnings({})).toEqual([]);
  });
});
