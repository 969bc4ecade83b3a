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
