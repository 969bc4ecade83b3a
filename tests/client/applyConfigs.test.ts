import { WorkflowNotFoundError } from '@temporalio/client';
import { applyPipeline } from '../../client/apply';
import type { ClientOptions } from '../../client/options';
import type { Workflows } from '../../client/workflows';
import type { PipelineState } from '../../domain/pipeline/state';
import { pipelineOf, specOf } from '../builders/pipelineWorld';

/** Answers of push types about configs decide whether a pipeline is applied. */

const spec = specOf(['deploy']);
const acting = { actor: 'user:alice' };
const PROBLEMS = [{ action: 'deploy', pushType: 'twine', problems: [{ path: 'config.jobs[0]', message: 'no job a' }] }];
const UNCHECKED = [{ action: 'deploy', pushType: 'twine', unchecked: 'twine is away' }];

/** A pipeline that runs with a state, or null for one that is new; and the updates that it got. */
function given(state: PipelineState | null) {
  const updates: string[] = [];
  const missing = () => Promise.reject(new WorkflowNotFoundError('not found', 'pipeline/web', undefined));
  const client = {
    workflow: {
      getHandle: () => ({
        query: () => (state === null ? missing() : Promise.resolve(state)),
        describe: () => (state === null ? missing() : Promise.resolve({ status: { name: 'RUNNING' } })),
      }),
      list: async function* () {},
      executeUpdateWithStart: (update: string) => {
        updates.push(update);
        return Promise.resolve({ previous: state?.spec ?? null, created: state === null });
      },
    },
    withDeadline: (_: number, call: () => unknown) => call(),
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers: [{ identity: 'worker' }] }) },
  };
  const workflows = {
    temporal: { client, namespace: 'default' },
    withWording: (_: string, call: () => unknown) => call(),
    pipelineState: () => (state === null ? missing() : Promise.resolve(state)),
  } as unknown as Workflows;
  return { workflows, updates };
}

const finding = (findings: Awaited<ReturnType<NonNullable<ClientOptions['checkConfigs']>>>): ClientOptions => ({
  checkConfigs: () => Promise.resolve(findings),
});

test('a pipeline whose config is refused is not applied', async () => {
  const { workflows, updates } = given(null);
  await expect(applyPipeline(workflows, finding(PROBLEMS), spec, acting)).rejects.toMatchObject({
    ...{ code: 'config-rejected', exit: 2, retryable: false },
    message: `${spec.pipeline} was not applied: twine refuses the config of deploy: config.jobs[0]: no job a`,
  });
  expect(updates).toEqual([]);
});

test('one whose push type does not answer is applied, and its answer says so', async () => {
  const { workflows, updates } = given(null);
  const { configNotes } = await applyPipeline(workflows, finding(UNCHECKED), spec, acting);
  expect(configNotes).toEqual([expect.stringContaining('was not checked')]);
  expect(updates).toEqual(['apply']);
});

test('one that had the refused config before is applied, so that the rest of it can change', async () => {
  const { workflows, updates } = given(pipelineOf(['deploy']));
  const { configNotes } = await applyPipeline(workflows, finding(PROBLEMS), spec, acting);
  expect(configNotes).toEqual([expect.stringContaining('the pipeline had this config before')]);
  expect(updates).toEqual(['apply']);
});

test('an answer without mistakes adds nothing', async () => {
  const { workflows } = given(null);
  const sound = finding([{ action: 'deploy', pushType: 'twine', problems: [] }]);
  expect(await applyPipeline(workflows, sound, spec, acting)).toEqual({ created: true, previous: null });
});
