import { refuseRelease } from '../../../domain/pipeline/requests';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import type { Trigger } from '../../../domain/views';
import { artifact, pipelineOf } from '../../builders/pipelineWorld';

const PARENT: Trigger = { kind: 'parent', actor: 'service:conveyor', key: null, parent: 'inference/3' };

/** Whether a child takes a release of a parent with these owners; its own are user:alice and group:storage. */
const takes = (child: Partial<PipelineSource>, owners: readonly string[]): boolean =>
  refuseRelease(pipelineOf(['deploy'], child), [artifact('kv:2')], PARENT, owners) === undefined;

describe('a parent releases a child only with its consent', () => {
  test.each<[string, Partial<PipelineSource>, readonly string[], boolean]>([
    ['they have an owner in common', {}, ['user:alice'], true],
    ['they have an owning group in common', {}, ['group:storage', 'user:eve'], true],
    ['an owner of the parent is in a group that owns the child', {}, ['user:sam'], true],
    ['the child names the parent in a label', { labels: { parent: 'inference' } }, ['user:eve'], true],
    ['neither', {}, ['user:eve', 'group:web'], false],
    ['the child names another parent', { labels: { parent: 'training' } }, ['user:eve'], false],
    ['the parent says nothing of its owners', {}, [], false],
  ])('%s', (_, child, owners, taken) => expect(takes(child, owners)).toBe(taken));
});
