import fc from 'fast-check';
import { admit, withdraw } from '../../../domain/pipeline/admission';
import type { Admission } from '../../../domain/release/admission';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { markKnownBad } from '../../../domain/pipeline/knownBad';
import { holdPipeline, type PipelineState, type ReadyAction } from '../../../domain/pipeline/state';
import { artifact, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

type Supersede = 'waiting' | 'never';
const pipeline = (releases: number, supersede: Supersede = 'waiting', deploys = ['deploy']): PipelineState => {
  let state = pipelineOf(deploys, { releases: { supersede } });
  for (let n = 1; n <= releases; n += 1) state = running(state, artifact(`kv:${n}`));
  return state;
};
const ready = (release: number, more: Partial<ReadyAction> = {}): ReadyAction => ({
  release,
  action: 'deploy',
  artifacts: [artifact(`kv:${release}`)],
  rollback: false,
  ...more,
});
const withReady = (state: PipelineState, ...deploys: ReadyAction[]): PipelineState => ({
  ...state,
  ready: [...state.ready, ...deploys],
});
const told = (state: PipelineState) =>
  admit(state, NOW).decisions.map(({ release, action, admission }) => `${release} ${action} ${wordsOf(admission)}`);
const wordsOf = (admission: Admission) =>
  admission.kind === 'superseded' ? `superseded by ${admission.by}` : admission.kind;
const bad = (state: PipelineState, version: string) => markKnownBad(state, [artifact(version)], 'errors is 0.2', NOW);
const held = (state: PipelineState) => holdPipeline(state, 'user:alice', 'conference', NOW);
/** After release 1 was granted, and still deploys. */
const busy = (supersede?: Supersede): PipelineState => admit(withReady(pipeline(5, supersede), ready(1)), NOW).state;

describe('among deploys that are ready', () => {
  test.each<[string, PipelineState, string[]]>([
    ['one alone is granted', withReady(pipeline(1), ready(1)), ['1 deploy granted']],
    [
      'a newer one supersedes an older',
      withReady(pipeline(2), ready(1), ready(2)),
      ['1 deploy superseded by 2', '2 deploy granted'],
    ],
    ['none begins while another release deploys', withReady(busy(), ready(2)), []],
    [
      'a newer one supersedes an older also while both wait',
      withReady(busy(), ready(2), ready(3)),
      ['2 deploy superseded by 3'],
    ],
    [
      'two of one release run together',
      withReady(pipeline(1, 'waiting', ['east', 'west']), ready(1, { action: 'east' }), ready(1, { action: 'west' })),
      ['1 east granted', '1 west granted'],
    ],
    [
      'a newer one of another action supersedes nothing',
      withReady(pipeline(2, 'waiting', ['east', 'west']), ready(1, { action: 'east' }), ready(2, { action: 'west' })),
      ['1 east granted'],
    ],
    [
      'none may begin what a newer release has begun',
      withReady(withdraw(admit(withReady(pipeline(2), ready(2)), NOW).state, ready(2)), ready(1)),
      ['1 deploy superseded by 2'],
    ],
    ['a known-bad artifact is refused', withReady(bad(pipeline(1), 'kv:1'), ready(1)), ['1 deploy bad-package']],
    [
      'a known-bad artifact supersedes nothing',
      withReady(bad(pipeline(2), 'kv:2'), ready(1), ready(2)),
      ['1 deploy granted', '2 deploy bad-package'],
    ],
    ['none begins while the pipeline is held', withReady(held(pipeline(1)), ready(1)), []],
    [
      'a rollback begins while the pipeline is held',
      withReady(held(pipeline(1)), ready(1, { rollback: true })),
      ['1 deploy granted'],
    ],
    [
      'a rollback goes first',
      withReady(pipeline(2, 'never'), ready(1), ready(2, { rollback: true })),
      ['2 deploy granted', '1 deploy superseded by 2'],
    ],
    ['a rollback waits for the deploy that runs', withReady(busy(), ready(2, { rollback: true })), []],
    [
      'a rollback to a known-bad artifact is refused',
      withReady(bad(pipeline(1), 'kv:1'), ready(1, { rollback: true })),
      ['1 deploy bad-package'],
    ],
    [
      'with supersede: never the oldest goes first',
      withReady(pipeline(2, 'never'), ready(2), ready(1)),
      ['1 deploy granted'],
    ],
    [
      'with supersede: never a newer one waits for an older that is not ready yet',
      withReady(pipeline(2, 'never'), ready(2)),
      [],
    ],
    [
      'with supersede: never it continues when the older ended without a deploy',
      withReady(recordRelease(pipeline(2, 'never'), resultOf(1, []), NOW), ready(2)),
      ['2 deploy granted'],
    ],
    [
      'with supersede: never it continues when the older has deployed',
      withReady(withdraw(busy('never'), ready(1)), ready(2)),
      ['2 deploy granted'],
    ],
  ])('%s', (_, state, expected) => expect(told(state)).toEqual(expected));

  test('a refusal names the artifact and why it is bad', () => {
    const [answer] = admit(withReady(bad(pipeline(1), 'kv:1'), ready(1)), NOW).decisions;
    expect(answer?.admission).toEqual({
      kind: 'bad-package',
      artifact: 'executable@kv:1',
      reason: 'executable@kv:1 is known to be bad: errors is 0.2',
    });
  });

  test('each gets its decision once', () =>
    expect(told(admit(withReady(pipeline(1), ready(1)), NOW).state)).toEqual([]));

  test('a deploy that ended makes way, and one that gave up waiting leaves', () => {
    expect(told(withdraw(withReady(busy(), ready(2)), ready(1)))).toEqual(['2 deploy granted']);
    expect(withdraw(withReady(busy(), ready(2)), ready(2)).ready).toEqual([]);
  });

  test('a release that ended holds nothing any more, even if its deploy never reported its end', () => {
    const after = recordRelease(withReady(busy(), ready(1, { action: 'other' }), ready(2)), resultOf(1, []), NOW);
    expect(after.ready).toEqual([ready(2)]);
    expect(told(after)).toEqual(['2 deploy granted']);
  });
});

describe('why a deploy waits', () => {
  test.each<[string, PipelineState, string]>([
    ['a hold', held(pipeline(2)), 'the pipeline is held by user:alice: conference'],
    ['another deploy', busy(), 'release 1 deploys'],
    ['an older release', pipeline(2, 'never'), 'release 1 comes first'],
  ])('%s', (_, state, why) => expect(admit(withReady(state, ready(2)), NOW).waiting.at(-1)?.why).toBe(why));
});

const aTurn = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ready' as const),
      pick: fc.nat(9),
      action: fc.constantFrom('east', 'west'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('over' as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'hold' as const }, { kind: 'unhold' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('bad' as const), pick: fc.nat(9) }) },
);
const RELEASES = [1, 2, 3, 4, 5, 6];

test.each<Supersede>(['waiting', 'never'])(
  'supersede: %s. One release deploys at a time, none after a newer one of the same action, none known-bad, none held, and none waits for ever',
  (supersede) => {
    fc.assert(
      fc.property(fc.array(aTurn, { maxLength: 60 }), fc.subarray(RELEASES), (turns, rollbacks) => {
        let state = pipeline(RELEASES.length, supersede, ['east', 'west']);
        const asked = new Set<string>();
        const going = new Set<string>();
        const begun: Record<string, number[]> = { east: [], west: [] };
        const answered = new Map<string, Admission['kind']>();
        const isRollback = (release: number) => rollbacks.includes(release);
        const settle = () => {
          const badBefore = state.knownBad.map((entry) => entry.artifact);
          const next = admit(state, NOW);
          for (const { release, action, admission } of next.decisions) {
            const key = `${release}/${action}`;
            expect(answered.has(key)).toBe(false);
            answered.set(key, admission.kind);
            if (supersede === 'never' && rollbacks.length === 0) expect(admission.kind).not.toBe('superseded');
            if (admission.kind !== 'granted') continue;
            going.add(key);
            expect(new Set([...going].map((other) => other.split('/')[0])).size).toBe(1);
            expect(badBefore).not.toContain(`executable@kv:${release}`);
            if (state.held) expect(isRollback(release)).toBe(true);
            expect(Math.max(0, ...begun[action]!)).toBeLessThan(release);
            begun[action]!.push(release);
          }
          ({ state } = next);
        };
        const askFor = (release: number, action: string) => {
          if (asked.has(`${release}/${action}`) || !state.active.some(({ number }) => number === release)) return;
          asked.add(`${release}/${action}`);
          state = withReady(state, ready(release, { action, rollback: isRollback(release) }));
          settle();
        };
        const end = (key: string) => {
          going.delete(key);
          const [release = '', action = ''] = key.split('/');
          state = withdraw(state, { release: Number(release), action });
          settle();
        };
        for (const turn of turns) {
          if (turn.kind === 'ready') askFor(RELEASES[turn.pick % RELEASES.length]!, turn.action);
          if (turn.kind === 'over' && going.size > 0) end([...going][turn.pick % going.size]!);
          if (turn.kind === 'hold') state = held(state);
          if (turn.kind === 'unhold') state = { ...state, held: null };
          if (turn.kind === 'bad') state = bad(state, `kv:${RELEASES[turn.pick % RELEASES.length]}`);
          settle();
        }
        state = { ...state, held: null };
        settle();
        for (const release of RELEASES) for (const action of ['east', 'west']) askFor(release, action);
        for (let n = 0; n < 100; n += 1) {
          for (const key of going) end(key);
          const isOver = (release: number) =>
            ['east', 'west'].every(
              (action) => answered.has(`${release}/${action}`) && !going.has(`${release}/${action}`),
            );
          for (const release of RELEASES.filter(isOver)) state = recordRelease(state, resultOf(release, []), NOW);
          settle();
        }
        expect([...asked].filter((key) => !answered.has(key))).toEqual([]);
        expect(state.ready).toEqual([]);
      }),
      { numRuns: 300 },
    );
  },
);
