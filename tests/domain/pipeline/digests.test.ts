import type { Artifact } from '../../../domain/artifact';
import { admit } from '../../../domain/pipeline/admission';
import { markKnownBad } from '../../../domain/pipeline/knownBad';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { refuseEmergency, refuseRelease, refuseRerun, refuseSubmission } from '../../../domain/pipeline/requests';
import { findRollbackArtifacts } from '../../../domain/pipeline/rollback';
import type { PipelineState } from '../../../domain/pipeline/state';
import { recordLatestInputs } from '../../../domain/pipeline/submissions';
import type { Trigger } from '../../../domain/views';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const [A, B] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const kv = (n: number, digest?: string): Artifact => ({
  ...artifact(`kv:${n}`),
  ...(digest === undefined ? {} : { digest }),
});

const EMPTY = pipelineOf(['deploy']);
const finder: Trigger = { kind: 'finder', actor: 'service:builds', key: null };
const webhook: Trigger = { kind: 'webhook', actor: 'service:ci', key: null };
const parent: Trigger = { kind: 'parent', actor: 'service:conveyor', key: 'p', parent: 'inference/3' };
const emergency: Trigger = { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' };

/** A release has ended that was given this, and deployed it with this outcome. */
const released = (outcome: Parameters<typeof deployed>[1], given: Artifact, from = EMPTY): PipelineState => {
  const number = from.nextNumber;
  const asked = running(recordLatestInputs(from, [given]), given);
  return recordRelease(asked, resultOf(number, [deployed('deploy', outcome, given)], [given]), NOW);
};

const deploying = (state: PipelineState): PipelineState => ({
  ...state,
  active: state.active.map((one) => ({ ...one, deploying: true as const })),
});

/** Each door, as what refuses there. */
const DOORS: Readonly<Record<string, (state: PipelineState, given: Artifact) => object | undefined>> = {
  'a finder': (state, given) => refuseSubmission(state, [given], finder),
  'a webhook': (state, given) => refuseSubmission(state, [given], webhook),
  'a person': (state, given) => refuseRelease(state, [given], manual()),
  'the release of a parent': (state, given) => refuseRelease(state, [given], parent, ['user:alice']),
  'an emergency': (state, given) => refuseEmergency(state, [given], emergency, { action: 'deploy', skipBake: false }),
};
const doors = (...names: readonly string[]) => Object.entries(DOORS).filter(([name]) => names.includes(name));

describe.each(Object.entries(DOORS))('a version that comes with another digest from %s', (_, refusal) => {
  test.each<[when: string, state: PipelineState, from: string]>([
    ['is refused while a release deploys it', deploying(running(EMPTY, kv(12, A))), 'release 1'],
    ['is refused once it was deployed', released('succeeded', kv(12, A)), 'release 1'],
    [
      'is refused when something newer runs since',
      released('succeeded', kv(13, A), released('succeeded', kv(12, A))),
      'release 1',
    ],
    [
      'is refused when it could not be taken back',
      released({ revertedBy: 'health', bad: false }, kv(12, A)),
      'release 1',
    ],
    [
      'is refused where the history has forgotten it, and a rollback could bring it back',
      { ...released('succeeded', kv(12, A)), history: [] },
      'release 1',
    ],
  ])('%s, and both digests are named', (_when, state, from) => {
    expect(refusal(state, kv(12, B))).toEqual({
      code: 'digest-changed',
      message: `executable@kv:12#${B}: ${from} has this version with another digest, ${A}`,
      names: [`executable@kv:12#${B}`, A, from],
    });
  });

  test.each<[what: string, given: Artifact]>([
    ['with the same digest', kv(12, A)],
    ['with the same in capitals', kv(12, A.toUpperCase().replace('SHA256', 'sha256'))],
    ['without one', kv(12)],
    ['with a digest of another algorithm, which cannot be compared', kv(12, `sha512:${'b'.repeat(128)}`)],
    ['as another version', kv(14, B)],
  ])('is taken %s', (_what, given) => expect(refusal(released('succeeded', kv(12, A)), given)).toBeUndefined());

  test('is taken where none was known before', () =>
    expect(refusal(released('succeeded', kv(12)), kv(12, A))).toBeUndefined());

  test.each<[what: string, bad: Artifact, given: Artifact]>([
    ['without a digest', kv(13), kv(13, A)],
    ['with its digest', kv(13, A), kv(13)],
    ['with another digest', kv(13, A), kv(13, B)],
  ])('is known to be bad where it was reverted %s', (_what, bad, given) => {
    const state = markKnownBad(EMPTY, [bad], 'release 2 was reverted', NOW);
    expect(refusal(state, given)).toMatchObject({ code: 'known-bad', message: 'release 2 was reverted' });
  });
});

describe('a known-bad version that a release has with another digest', () => {
  const bad = markKnownBad(running(EMPTY, kv(13, B)), [kv(13, A)], 'release 2 was reverted', NOW);
  const ready = { release: 1, action: 'deploy', artifacts: [kv(13, B)], rollback: false };

  test('is not deployed, also where the release made it itself', () => {
    const { decisions } = admit({ ...bad, ready: [ready] }, NOW);
    const reason = expect.stringContaining('release 2 was reverted');
    expect(decisions).toMatchObject([{ admission: { kind: 'bad-package', reason } }]);
  });

  test('is brought back by a rollback if it was good with that digest', () => {
    const rollback = { ...bad, ready: [{ ...ready, rollback: true }] };
    expect(admit(rollback, NOW).decisions[0]?.admission).toMatchObject({ kind: 'granted' });
  });

  test('is not run again', () => {
    const failed = recordRelease(bad, { ...resultOf(1, [], [kv(13, B)]), state: 'failed' }, NOW);
    expect(refuseRerun(failed, [kv(13, B)], manual(), 1)).toMatchObject({ code: 'known-bad' });
  });
});

describe('two artifacts that name a version before it was deployed', () => {
  const told = recordLatestInputs(EMPTY, [kv(12, A)]);
  const refused = released('failed', kv(12, A));
  const waits = running(EMPTY, kv(12, A));

  test.each(doors('a finder', 'a webhook', 'the release of a parent'))(
    '%s is not believed over the first',
    (_, refusal) => {
      const named = (from: string) => ({ code: 'digest-changed', names: [expect.any(String), A, from] });
      for (const state of [told, refused]) expect(refusal(state, kv(12, B))).toMatchObject(named('the latest input'));
      expect(refusal(waits, kv(12, B))).toMatchObject(named('release 1'));
    },
  );

  test.each(doors('a person', 'an emergency'))('%s decides', (_, refusal) => {
    for (const state of [told, refused, waits]) expect(refusal(state, kv(12, B))).toBeUndefined();
  });
});

describe('a tag that moves, in a pipeline whose deploys take several artifacts, and whose units report their digests', () => {
  const latest = (digest: string): Artifact => ({ ...artifact('latest'), digest });
  const action = { type: 'deploy' as const, inputs: ['executable', 'settings'], with: { pushType: 'twine' } };
  const several = pipelineOf([], {
    artifacts: { executable: { finder: 'manual' }, settings: { finder: 'manual' } },
    actions: { deploy: action },
  });
  const both = (digest: string) => [latest(digest), artifact('1', 'settings')];
  const given = recordLatestInputs(several, both(A));

  test('is taken with each of its digests', () => {
    const now = recordRelease(
      running(given, ...both(A)),
      resultOf(1, [deployed('deploy', 'succeeded', ...both(A))], both(A)),
      NOW,
    );
    for (const trigger of [finder, webhook, manual()]) expect(refuseRelease(now, both(B), trigger)).toBeUndefined();
  });

  test('is known to be bad with the digest that was bad, and no other', () => {
    const state = markKnownBad(given, [latest(A)], 'release 2 was reverted', NOW);
    expect(refuseRelease(state, both(A), manual())).toMatchObject({ code: 'known-bad' });
    expect(refuseRelease(state, both(B), manual())).toBeUndefined();
  });
});

test('a rollback brings the digest with which the version was deployed, whatever was said since', () => {
  const state = released('succeeded', kv(13, A), released('succeeded', kv(12, A)));
  expect(findRollbackArtifacts(recordLatestInputs(state, [kv(12, B)]), 2)).toEqual([kv(12, A)]);
});
