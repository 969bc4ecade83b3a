import type { Artifact } from '../../../domain/artifact';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { STATE_LIMITS } from '../../../domain/limits';
import { refuseEmergency, refuseRelease, refuseSubmission } from '../../../domain/pipeline/requests';
import { markKnownBad } from '../../../domain/pipeline/knownBad';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import {
  completeArtifacts,
  findMissingArtifacts,
  describePassedOver,
  recordLatestInputs,
  applySubmission,
} from '../../../domain/pipeline/submissions';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import type { Trigger } from '../../../domain/views';
import { artifact, manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

const finder = (key: string | null = null): Trigger => ({ kind: 'finder', actor: 'service:conveyor', key });
const webhook = (key: string | null = null): Trigger => ({ kind: 'webhook', actor: 'service:ci', key });
const source = (n: number) => artifact(`s${n}`, 'source');
const config = (n: number) => artifact(`c${n}`, 'config');

/** A pipeline that takes a source and a configuration. */
const both = (more: Partial<PipelineSource> = {}) =>
  pipelineOf(['deploy'], {
    artifacts: { source: { finder: 'commits' }, config: { finder: 'config-changes' } },
    ...more,
  });
const after = (state: PipelineState, ...given: (readonly [Trigger, ...Artifact[]])[]) =>
  given.reduce((next, [trigger, ...artifacts]) => applySubmission(next, artifacts, trigger, NOW).state, state);
const what = (state: PipelineState, trigger: Trigger, ...artifacts: Artifact[]) => {
  const { number, duplicate } = applySubmission(state, artifacts, trigger, NOW);
  return `${number}${duplicate ? ' again' : ''}`;
};
const versions = (state: PipelineState) =>
  state.active
    .at(-1)
    ?.artifacts.map(({ version }) => version)
    .sort();

describe('artifacts of a finder or a webhook', () => {
  const whole = after(both(), [finder(), source(1)], [finder(), config(1)]);
  test.each<[string, PipelineState, Trigger, Artifact[], string]>([
    ['is remembered while another input has no value', both(), finder(), [source(1)], 'null'],
    ['… and is no news the second time', after(both(), [finder(), source(1)]), finder(), [source(1)], 'null again'],
    ['makes a release once every input has a value', after(both(), [finder(), source(1)]), finder(), [config(1)], '1'],
    ['makes one at once when it is all of them', both(), finder(), [source(1), config(1)], '1'],
    ['makes another when one of them is new', whole, finder(), [config(2)], '2'],
    ['makes none when it is in a release that runs', whole, finder(), [source(1)], '1 again'],
    [
      'makes none when it is in a release that ended',
      recordRelease(markReleaseRunning(whole, 1), resultOf(1, [], [source(1), config(1)]), NOW),
      finder(),
      [source(1)],
      '1 again',
    ],
    [
      'makes none when the same key brought it',
      after(both(), [webhook('d1'), source(1), config(1)]),
      webhook('d1'),
      [source(2)],
      '1 again',
    ],
    [
      'makes none under another key when it is the same',
      after(both(), [webhook('d1'), source(1), config(1)]),
      webhook('d2'),
      [source(1), config(1)],
      '1 again',
    ],
    [
      'makes none when a webhook brought it and a finder finds it',
      after(both(), [webhook('d1'), source(1), config(1)]),
      finder(),
      [source(1)],
      '1 again',
    ],
    [
      'makes one of two that were each there before but never together',
      after(both(), [finder(), source(1)], [finder(), config(1)], [finder(), source(2), config(2)]),
      finder(),
      [source(1), config(2)],
      '3',
    ],
  ])('%s', (_, state, trigger, artifacts, expected) => expect(what(state, trigger, ...artifacts)).toBe(expected));

  test('is completed with the latest of the others', () => {
    expect(versions(after(whole, [finder(), config(2)]))).toEqual(['c2', 's1']);
    expect(versions(after(whole, [finder(), config(2)], [finder(), source(2)]))).toEqual(['c2', 's2']);
  });
  test('is only remembered where a person starts releases', () => {
    const byHand = both({ schedule: { mode: 'manual', gates: 'releases' } });
    const state = after(byHand, [finder(), source(1)], [finder(), config(1)]);
    expect(state.active).toEqual([]);
    expect(what(byHand, finder(), source(1), config(1))).toBe('null');
    expect(completeArtifacts(state, []).map(({ version }) => version)).toEqual(['s1', 'c1']);
    expect(refuseRelease(state, [], manual())).toBeUndefined();
  });
  test('makes releases where a person only picks the deploys', () =>
    expect(what(both({ schedule: { mode: 'manual' } }), finder(), source(1), config(1))).toBe('1'));
  test('a thousand redeliveries make one release', () => {
    let state = both();
    for (let n = 0; n < 1_000; n += 1)
      ({ state } = applySubmission(state, [source(1), config(1)], webhook(`d${n}`), NOW));
    expect(state.active).toHaveLength(1);
    expect(state.nextNumber).toBe(2);
  });
});

describe('an input that a release does not name', () => {
  type End = 'succeeded' | 'failed' | 'cancelled';
  /** Releases of these versions, one after the other, as they ended; null: it runs. */
  const past = (...rows: readonly (readonly [source: number, config: number, end: End | null])[]): PipelineState =>
    rows.reduce((state, [s, c, end]) => {
      const artifacts = [source(s), config(c)];
      const next = queueRelease(recordLatestInputs(state, artifacts), artifacts, manual(), NOW);
      if (end === null) return next;
      return recordRelease(next, { ...resultOf(state.nextNumber, [], artifacts), state: end }, NOW);
    }, both());
  const taken = (state: PipelineState) => completeArtifacts(state, []).map(({ version }) => version);

  test('is the newest that came through, where releases with the latest only failed, and that is said', () => {
    const state = past([1, 1, 'succeeded'], [2, 1, 'failed'], [2, 1, 'failed']);
    expect(taken(state)).toEqual(['s1', 'c1']);
    expect(describePassedOver(state, [config(2)])).toEqual(['source@s2 failed in release 3, so it takes source@s1']);
    expect(describePassedOver(state, [source(2)])).toEqual([]);
    // A finder is compared with what it brought.
    expect(state.inputs['source']?.version).toBe('s2');
    expect(versions(after(state, [finder(), config(2)]))).toEqual(['c2', 's1']);
  });

  test.each<[string, PipelineState, string[]]>([
    ['nothing ever came through', past([1, 1, 'failed']), ['s1', 'c1']],
    [
      'another release came through with it',
      past([1, 1, 'succeeded'], [2, 1, 'succeeded'], [2, 2, 'failed']),
      ['s2', 'c1'],
    ],
    ['a release with it was only cancelled', past([1, 1, 'succeeded'], [2, 1, 'cancelled']), ['s2', 'c1']],
    ['a release with it is under way', past([1, 1, 'succeeded'], [2, 1, 'failed'], [2, 1, null]), ['s2', 'c1']],
  ])('is the latest where %s', (_, state, expected) => expect(taken(state)).toEqual(expected));
});

describe('a release by a person', () => {
  const known = after(both(), [finder(), source(1)], [finder(), config(1)]);
  test('is released again, as often as they like', () =>
    expect(
      refuseRelease(queueRelease(known, [source(1), config(1)], manual(), NOW), [source(1)], manual()),
    ).toBeUndefined());
  test('is completed with what the pipeline knows', () =>
    expect(completeArtifacts(known, [source(7)]).map(({ version }) => version)).toEqual(['s7', 'c1']));
  test('is the latest from then on', () => {
    const state = recordLatestInputs(known, [source(7)]);
    expect(versions(after(state, [finder(), config(2)]))).toEqual(['c2', 's7']);
  });
  test('needs a value of everything', () => {
    expect(findMissingArtifacts(after(both(), [finder(), source(1)]), [])).toEqual(['config']);
    expect(refuseRelease(both(), [source(1)], manual())).toMatchObject({ code: 'missing-artifact', names: ['config'] });
  });
  test('is refused when what the pipeline knows of the rest is bad', () =>
    expect(refuseRelease(markKnownBad(known, [config(1)], 'slow', NOW), [source(2)], manual())).toMatchObject({
      code: 'known-bad',
      message: 'slow',
    }));
});

describe('refused are', () => {
  const bad = markKnownBad(both(), [source(1)], 'errors is 0.2', NOW);
  const full = Array.from({ length: STATE_LIMITS.queued.max }).reduce<PipelineState>(
    (state, _, n) => queueRelease(state, [source(n), config(n)], manual(), NOW),
    both({ releases: { supersede: 'never' } }),
  );
  test.each<[string, PipelineState, Trigger, Artifact[], string]>([
    ['artifacts that the pipeline does not take', both(), finder(), [artifact('x', 'model')], 'unknown-artifact'],
    ['one artifact twice', both(), finder(), [source(1), source(2)], 'invalid-state'],
    ['what is known to be bad', bad, finder(), [source(1)], 'known-bad'],
    [
      'people who are no owners',
      both(),
      { kind: 'api', actor: 'user:mallory', key: null },
      [source(1)],
      'not-permitted',
    ],
    ['a line that is full, where nothing is dropped', full, finder(), [source(999)], 'queue-full'],
  ])('%s', (_, state, trigger, artifacts, code) =>
    expect(refuseSubmission(state, artifacts, trigger)?.code).toBe(code),
  );
  test('not what came before, even if it has been found bad since', () => {
    const state = after(both(), [webhook('d1'), source(1), config(1)]);
    expect(refuseSubmission(markKnownBad(state, [source(1)], 'slow', NOW), [source(1)], webhook('d1'))).toBeUndefined();
  });
});

describe('an emergency is refused', () => {
  const trigger = (actor = 'user:alice'): Trigger => ({ kind: 'emergency', actor, key: null, reason: 'outage' });
  const known = pipelineOf(['deploy'], {
    actions: {
      build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: {} },
      deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' } },
    },
    artifacts: { source: { finder: 'manual' } },
  });
  const fix = artifact('kv:9');
  const push = (state: PipelineState, action: string, artifacts: Artifact[], actor?: string) =>
    refuseEmergency(state, artifacts, trigger(actor), { action, skipBake: false });
  test.each<[string, PipelineState, string, Artifact[], string | undefined, object]>([
    ['to those who are no owners', known, 'deploy', [fix], 'user:mallory', { code: 'not-permitted' }],
    [
      'while frozen, saying by whom',
      { ...known, frozen: { actor: 'user:bob', at: '', reason: 'holidays' } },
      'deploy',
      [fix],
      undefined,
      { code: 'invalid-state', message: 'user:bob has frozen it: holidays. Unfreeze it first' },
    ],
    ['for what is not a deploy', known, 'build', [fix], undefined, { message: 'build is not a deploy but a build' }],
    ['for what is not an action', known, 'ship', [fix], undefined, { message: 'it has no action ship' }],
    ['without what is deployed', known, 'deploy', [], undefined, { code: 'missing-artifact', names: ['executable'] }],
    ['with what the action does not take', known, 'deploy', [fix, source(1)], undefined, { code: 'unknown-artifact' }],
    [
      'with what is known to be bad',
      markKnownBad(known, [fix], 'errors is 0.2', NOW),
      'deploy',
      [fix],
      undefined,
      { code: 'known-bad', message: 'errors is 0.2' },
    ],
  ])('%s', (_, state, action, artifacts, actor, expected) =>
    expect(push(state, action, artifacts, actor)).toMatchObject(expected),
  );
  test('not while held, with what only that deploy takes', () => {
    expect(push(known, 'deploy', [fix])).toBeUndefined();
    expect(push({ ...known, held: { actor: 'user:bob', at: '', reason: '' } }, 'deploy', [fix])).toBeUndefined();
  });
  test('not for a line that is full', () => {
    const full = Array.from({ length: STATE_LIMITS.queued.max }).reduce<PipelineState>(
      (state) => queueRelease(state, [source(1)], manual(), NOW),
      { ...known, spec: { ...known.spec, releases: { ...known.spec.releases, supersede: 'never' } } },
    );
    expect(push(full, 'deploy', [fix])).toBeUndefined();
  });
});
