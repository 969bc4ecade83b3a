import { toPipelineDocument } from '../../../../domain/pipeline/document';
import { recordDeploy, recordRelease } from '../../../../domain/pipeline/recordOutcome';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../../domain/pipeline/state';
import { pipelineSummary } from '../../../../domain/pipeline/view';
import type { Trigger } from '../../../../domain/views';
import { artifact, deployed, NOW, pipelineOf, resultOf } from '../../../builders/pipelineWorld';

const GOOD = deployed('deploy', 'succeeded', artifact('kv:2'));
const AT = new Date(NOW).toISOString();
const begun = (kind: Trigger['kind'], followOn = false): PipelineState => {
  const more = followOn ? { followOn: { action: 'deploy', units: ['u1'] } } : {};
  const trigger: Trigger = { kind, actor: 'user:alice', key: null };
  return markReleaseRunning(queueRelease(pipelineOf(['deploy']), [artifact('kv:2')], trigger, NOW, more), 1);
};
const after = (state: PipelineState, ...deploys: (typeof GOOD)[]): string | undefined =>
  recordRelease(state, resultOf(1, deploys), NOW).deployedAt;

test('a deploy that succeeds makes its pipeline young, as soon as it ends, and lists say so', () => {
  expect(after(begun('manual'), GOOD)).toBe(AT);
  const booked = recordDeploy(begun('manual'), 1, GOOD, NOW);
  expect(booked.deployedAt).toBe(AT);
  expect(pipelineSummary(booked).deployedAt).toBe(AT);
});

test('a rollback, a follow-on, a deploy that was reverted and a release without one do not', () => {
  expect(after(begun('rollback'), GOOD)).toBeUndefined();
  expect(after(begun('follow-on', true), GOOD)).toBeUndefined();
  expect(after(begun('manual'), deployed('deploy', { revertedBy: 'health' }, artifact('kv:2')))).toBeUndefined();
  expect(after(begun('manual'))).toBeUndefined();
  expect(pipelineSummary(begun('manual'))).not.toHaveProperty('deployedAt');
});

test('an export takes it along', () => {
  expect(toPipelineDocument(recordDeploy(begun('manual'), 1, GOOD, NOW), NOW)).toMatchObject({ deployedAt: AT });
});
