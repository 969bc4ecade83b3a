import type { CommandInput } from '../../domain/verbs';
import type { ActionView, ReleaseStatus } from '../../domain/views';
import { action, release } from '../builders/cliSamples';
import { run, type World } from '../builders/cliWorld';

interface Sent {
  readonly id: string;
  readonly verb: string;
  readonly input: CommandInput;
}

/** A release with these actions, and every verb that was sent to it. */
function world(actions: readonly ActionView[], over: Partial<ReleaseStatus> = {}): World & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    client: {
      status: () => Promise.resolve(release({ actions, ...over })),
      spec: () => Promise.resolve({ artifacts: { source: {} } } as never),
      command: (id, verb, input) => {
        sent.push({ id, verb, input });
        return Promise.resolve({ id, accepted: true, effect: 'done' });
      },
    },
  };
}

const waiting = (name: string): ActionView =>
  action({ name, type: 'manual-pick', state: 'running', endedAt: null, pickBy: ['group:storage'] });
const failed = (name: string): ActionView => action({ name, type: 'integr-test', state: 'failed' });
const why = ['--reason', 'because'];

describe('a release where an action is needed', () => {
  test.each([
    [
      'pick means the only action that waits for a person',
      'pick',
      [action(), waiting('approve')],
      'kvstore/13/approve',
    ],
    ['retry means the only action that failed', 'retry', [action(), failed('tests')], 'kvstore/13/tests'],
  ])('%s', async (_title, verb, actions, id) => {
    const it = world(actions);
    const decision = verb === 'pick' ? ['--approve'] : [];
    expect((await run([verb, 'kvstore/13', ...decision, ...why], it)).code).toBe(0);
    expect(it.sent).toMatchObject([{ id, verb }]);
  });

  test.each([
    ['of several picks', 'pick', [waiting('eu'), waiting('us')], 'hint: name one: kvstore/13/eu, kvstore/13/us'],
    ['of no pick', 'pick', [action()], 'kvstore/13: none of its actions waits for a person'],
    ['of no failure', 'retry', [action()], 'kvstore/13: none of its actions has failed'],
  ])('%s none is guessed', async (_title, verb, actions, told) => {
    const it = world(actions);
    const ran = await run([verb, 'kvstore/13', ...(verb === 'pick' ? ['--reject'] : []), ...why], it);
    expect({ code: ran.code, sent: it.sent }).toEqual({ code: 2, sent: [] });
    expect(ran.err).toContain(told);
  });
});

describe('a pick on a terminal', () => {
  test.each([
    ['approve', true],
    ['a', true],
    ['Reject', false],
    ['r', false],
  ])('takes %s for an answer', async (answer, approve) => {
    const it = world([waiting('approve')]);
    await run(['pick', 'kvstore/13/approve', ...why], { ...it, answer });
    expect(it.sent).toMatchObject([{ input: { approve } }]);
  });

  test.each(['', 'yes', 'approved'])('takes %j for none', async (answer) => {
    const it = world([waiting('approve')]);
    const ran = await run(['pick', 'kvstore/13/approve', ...why], { ...it, answer });
    expect({ code: ran.code, sent: it.sent }).toEqual({ code: 2, sent: [] });
    expect(ran.err).toContain('hint: add --approve or --reject');
  });
});

describe('a deploy that waits for users of its offers', () => {
  const unfit = { users: [{ offer: 'vpc', user: 'shop/deploy', why: 'wishes for ^1' }], more: 2 };
  const blocked = (name = 'deploy'): ActionView =>
    action({ name, type: 'deploy', state: 'blocked', endedAt: null, deploy: null, unfit });
  const listed =
    'kvstore/13/deploy does not fit 3 deploys of other pipelines, which keep the value that they have:\n' +
    '  shop/deploy wishes for ^1 (vpc)\n' +
    '  and 2 more: conveyor offers show kvstore\n';

  test('is let to begin with --yes, after these users are listed', async () => {
    const it = world([blocked(), waiting('approve')]);
    const ran = await run(['override-offer', 'kvstore/13', '--yes', ...why], it);
    expect(ran).toMatchObject({ code: 0, err: listed });
    expect(it.sent).toMatchObject([{ id: 'kvstore/13/deploy', verb: 'override-offer', input: { reason: 'because' } }]);
  });

  test.each([
    ['yes', 1],
    ['y', 0],
    ['', 0],
  ])('is let to begin on a terminal by the answer %j: %i', async (answer, count) => {
    const it = world([blocked()]);
    const ran = await run(['override-offer', 'kvstore/13/deploy', ...why], { ...it, answer });
    expect({ code: ran.code, sent: it.sent.length }).toEqual({ code: count === 1 ? 0 : 2, sent: count });
    expect(ran.err).toContain(listed);
  });

  test('keeps waiting if no person can answer', async () => {
    const it = world([blocked()]);
    const ran = await run(['override-offer', 'kvstore/13/deploy', ...why], it);
    expect({ code: ran.code, sent: it.sent }).toEqual({ code: 2, sent: [] });
    expect(ran.err).toContain('kvstore/13/deploy still waits for its users\nhint: add --yes to let it begin');
  });

  test('is not guessed among several', async () => {
    const it = world([blocked('eu'), blocked('us')]);
    const ran = await run(['override-offer', 'kvstore/13', '--yes', ...why], it);
    expect({ code: ran.code, sent: it.sent }).toEqual({ code: 2, sent: [] });
    expect(ran.err).toContain('hint: name one: kvstore/13/eu, kvstore/13/us');
  });

  test('shows the list of its users as the next command, and after an override who gave it', async () => {
    const shown = await run(['status', 'kvstore/13'], world([blocked()], { state: 'running', endedAt: null }));
    expect(shown.out).toContain('conveyor offers show kvstore');
    const override = { actor: 'user:bob', at: '2026-11-20T14:00:00.000Z', reason: 'attack' };
    const after = await run(['status', 'kvstore/13'], world([action({ override })]));
    expect(after.out).toMatch(/Override: +build does not wait for users of its offers, by user:bob .*: attack/);
  });
});

test('a retry of a release that failed is refused with the rerun and the release to type instead', async () => {
  const artifacts = [{ name: 'source', kind: 'source', version: '13', metadata: {} }];
  const it = world([failed('tests')], { state: 'failed', endedAt: '2026-11-20T14:02:00.000Z', artifacts });
  const ran = await run(['retry', 'kvstore/13/tests', ...why], it);
  expect({ code: ran.code, sent: it.sent }).toEqual({ code: 1, sent: [] });
  expect(ran.err).toBe(
    'error: invalid-state: cannot retry kvstore/13/tests: kvstore/13 has ended (failed)\n' +
      'hint: run the failed part again in a new release: conveyor rerun kvstore/13; or release the same again: conveyor release kvstore --artifact source=13\n',
  );
});

test('a retry of a release that succeeded is refused with the release to type instead', async () => {
  const artifacts = [
    { name: 'source', kind: 'source', version: '13', metadata: {} },
    { name: 'executable', kind: 'executable', version: 'kv:13', metadata: {} },
  ];
  const it = world([failed('tests')], { state: 'succeeded', endedAt: '2026-11-20T14:02:00.000Z', artifacts });
  const ran = await run(['retry', 'kvstore/13/tests', ...why], it);
  expect({ code: ran.code, sent: it.sent }).toEqual({ code: 1, sent: [] });
  expect(ran.err).toBe(
    'error: invalid-state: cannot retry kvstore/13/tests: kvstore/13 has ended (succeeded)\n' +
      'hint: release the same again: conveyor release kvstore --artifact source=13\n',
  );
});
