import { effectOfPipeline, takePipeline } from '../../../domain/pipeline/control';
import type { PipelineVerb } from '../../../domain/verbs';
import { NOW, pipelineOf } from '../../builders/pipelineWorld';

/** The pipeline's answer to the last of these verbs. */
function answer(...verbs: readonly PipelineVerb[]): string {
  const state = verbs.reduce((before, verb) => takePipeline(before, verb, { actor: 'user:alice' }, NOW), pipelineOf());
  return effectOfPipeline(verbs.at(-1)!, state);
}

test('unhold and unfreeze promise deploys only where nothing else stops them, and name the command that is left', () => {
  expect(answer('hold', 'unhold')).toBe('deploys start again');
  expect(answer('freeze', 'unfreeze')).toBe('releases and deploys continue');
  expect(answer('freeze', 'hold', 'unhold')).toContain('but still frozen: conveyor unfreeze kvstore lets');
  expect(answer('hold', 'freeze', 'unfreeze')).toContain('but still held: conveyor unhold kvstore lets');
});
