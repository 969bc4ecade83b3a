import type { Artifact } from '../../../domain/artifact';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { refuseEmergency, refuseRelease } from '../../../domain/pipeline/requests';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { completeArtifacts, recordLatestInputs } from '../../../domain/pipeline/submissions';
import type { Trigger } from '../../../domain/views';
import { artifact, manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

const EMPTY = pipelineOf(['eu', 'us'], {
  artifacts: { executable: { finder: 'manual' }, config: { finder: 'manual' } },
});
const [kv1, kv2, c1, c2] = [artifact('kv:1'), artifact('kv:2'), artifact('c1', 'config'), artifact('c2', 'config')];
const api = (key: string): Trigger => ({ kind: 'api', actor: 'user:alice', key });
const emergency: Trigger = { kind: 'emergency', actor: 'user:alice', key: 'ci-1', reason: 'outage' };
const pushed = (action: string) => ({ action, skipBake: false });

/** After the key `ci-1` has started release 1. */
const asked = (given: readonly Artifact[], trigger = manual('ci-1'), action?: string): PipelineState => {
  const known = recordLatestInputs({ ...EMPTY, inputs: { config: c1 } }, given);
  const more = action === undefined ? {} : { emergency: pushed(action) };
  return queueRelease(known, action === undefined ? completeArtifacts(known, given) : given, trigger, NOW, more);
};
const ended = (state: PipelineState, ...built: readonly Artifact[]): PipelineState => {
  const artifacts = state.active[0]?.artifacts ?? [];
  return recordRelease(markReleaseRunning(state, 1), resultOf(1, [], [...artifacts, ...built]), NOW);
};
const state = asked([kv1]);
const both = 'kvstore/1 with executable@kv:1, config@c1';

describe('a key that comes again', () => {
  test.each<[what: string, state: PipelineState, given: readonly Artifact[], trigger?: Trigger]>([
    ['with the same content repeats the release', state, [kv1]],
    ['through another door with the same content does too', state, [kv1], api('ci-1')],
    ['names what the pipeline added by itself, and is the same', state, [kv1, c1]],
    ['is the same after something newer became the latest', recordLatestInputs(state, [c2]), [kv1]],
    ['is the same after its release ended, whatever that built', ended(state, artifact('built', 'executable')), [kv1]],
    ['is answered as before where the pipeline has forgotten its release', { ...ended(state), history: [] }, [kv2]],
    ['is another key', state, [kv2], manual('ci-2')],
  ])('%s', (_, known, given, trigger = manual('ci-1')) => expect(refuseRelease(known, given, trigger)).toBeUndefined());

  test.each<[what: string, state: PipelineState, given: readonly Artifact[], was: string, now: string]>([
    ['with another version', state, [kv2], both, 'executable@kv:2'],
    ['with another digest', state, [{ ...kv1, digest: 'sha256:1' }], both, 'executable@kv:1#sha256:1'],
    ['with another of what the pipeline added', state, [kv1, c2], both, 'executable@kv:1, config@c2'],
    ['after its release ended', ended(state), [kv2], both, 'executable@kv:2'],
  ])('%s is refused and both are named', (_, known, given, was, now) => {
    for (const trigger of [manual('ci-1'), api('ci-1')])
      expect(refuseRelease(known, given, trigger)).toMatchObject({ code: 'key-reused', names: ['ci-1', was, now] });
  });

  test('for an emergency is not an ordinary release, nor the emergency of another deploy', () => {
    const one = asked([kv1], emergency, 'eu');
    expect(refuseEmergency(one, [kv1], emergency, pushed('eu'))).toBeUndefined();
    const was = 'kvstore/1 with executable@kv:1, pushed by eu';
    expect(refuseEmergency(one, [kv1], emergency, pushed('us'))).toMatchObject({
      code: 'key-reused',
      names: ['ci-1', was, 'executable@kv:1, pushed by us'],
    });
    expect(refuseRelease(one, [kv1], manual('ci-1'))?.names).toEqual(['ci-1', was, 'executable@kv:1']);
    expect(refuseEmergency(state, [kv1], emergency, pushed('eu'))?.names?.[1]).toBe(both);
  });
});
