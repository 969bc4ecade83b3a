import { admit } from '../../../domain/pipeline/admission';
import { reconcile } from '../../../domain/pipeline/reconcile';
import { recordDeploy, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { buildReleaseInput } from '../../../domain/pipeline/releaseInput';
import { queueRollback } from '../../../domain/pipeline/rollback';
import { markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import { begunBy, deployOf, withAsked } from '../../builders/admissionWorld';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

/** What a pipeline remembers for the offers of its deploys, and for those that they use. */

const OFFERS: Partial<PipelineSource> = {
  offers: [{ name: 'vpc', value: { by: '${executable.version}' } }],
  releases: { onRevert: 'continue' },
};

const shipped = (
  state: PipelineState,
  number: number,
  version: string,
  uses: readonly string[] = [],
): PipelineState => {
  const end = { ...deployed('deploy', 'succeeded', artifact(version)), ...(uses.length > 0 ? { uses } : {}) };
  return recordRelease(state, resultOf(number, [end], end.artifacts), NOW);
};
const release = (state: PipelineState): PipelineState =>
  shipped(begunBy(state, manual()), state.nextNumber, `kv:${state.nextNumber}`);
/** Queues the rollback of a release, which brings that version back, and starts it. */
const undo = (state: PipelineState, of: number, version: string): PipelineState => {
  const rollback = { of, actor: 'user:alice', reason: 'slow', notBad: true };
  return markReleaseRunning(queueRollback(state, [artifact(version)], rollback, NOW), state.nextNumber);
};
/** The release whose offers a rollback brings back. */
const restoredBy = (state: PipelineState, number: number, version: string): number | undefined => {
  const ask = deployOf(number, { rollback: true, artifacts: [artifact(version)] });
  const admission = admit(withAsked(state, ask), NOW).decisions.find((one) => one.release === number)?.admission;
  return admission?.kind === 'granted' ? admission.lastRelease : undefined;
};

describe('a rollback brings offers back', () => {
  const two = release(release(pipelineOf(['deploy'], OFFERS)));

  test('its offers are those of the release that it restores, also if the pipeline was applied only once', () =>
    expect(restoredBy(undo(two, 2, 'kv:1'), 3, 'kv:1')).toBe(1));

  test('its offers are those of the first release of a version, although another rollback brought that version back meanwhile', () => {
    const back = shipped(undo(two, 2, 'kv:1'), 3, 'kv:1');
    expect(restoredBy(undo(release(back), 4, 'kv:1'), 5, 'kv:1')).toBe(1);
  });

  test('its offers are those of that release, also while the other rollback has not ended', () => {
    const end = deployed('deploy', 'succeeded', artifact('kv:1'));
    const back = recordDeploy(undo(two, 2, 'kv:1'), 3, end, NOW);
    expect(restoredBy(undo(back, 2, 'kv:1'), 4, 'kv:1')).toBe(1);
  });

  test('its offers are those of that release, also after it was undone and brought back', () => {
    const three = release(two);
    const back = shipped(undo(three, 3, 'kv:2'), 4, 'kv:2');
    const first = shipped(undo(back, 2, 'kv:1'), 5, 'kv:1');
    expect(restoredBy(undo(first, 5, 'kv:2'), 6, 'kv:2')).toBe(2);
  });

  test('its offers are those of the version that it restores, even if a rollback of that one waits behind it', () => {
    const both = undo(undo(release(two), 3, 'kv:2'), 2, 'kv:1');
    expect(restoredBy(both, 4, 'kv:2')).toBe(2);
  });
});

test('a pipeline that offers something says so to its first release', () => {
  const { state, queued } = firstOf(OFFERS);
  expect(buildReleaseInput(state, queued)).toMatchObject({ offered: true });
  const bare = firstOf({});
  expect(buildReleaseInput(bare.state, bare.queued)).not.toHaveProperty('offered');
});

function firstOf(more: object) {
  const state = begunBy(pipelineOf(['deploy'], more), manual());
  const [queued] = state.active;
  if (queued === undefined) throw new Error('it has a release');
  return { state, queued };
}

test('a release that was ended from outside leaves the pipelines that no deploy has told yet', () => {
  const one = shipped(begunBy(pipelineOf(), manual()), 1, 'kv:1', ['net']);
  const two = begunBy(one, manual());
  const deploys = [{ ...deployed('deploy', 'succeeded', artifact('kv:2')), uses: ['dns'] }];
  const gone = { kind: 'gone', number: 2, endedAt: '2026-11-23T18:00:00.000Z', deploys, open: [] } as const;
  expect(reconcile(two, gone, NOW).uses).toEqual({ deploy: ['net', 'dns'] });
  const told = { kind: 'told', result: resultOf(2, deploys) } as const;
  expect(reconcile(two, told, NOW).uses).toEqual({ deploy: ['dns'] });
});
