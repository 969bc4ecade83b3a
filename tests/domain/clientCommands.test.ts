import { command } from '../../client/commands';
import type { Workflows } from '../../client/workflows';
import type { ReleaseStatus } from '../../domain/views';
import { action, release } from './cliSamples';

const deploying = (name: string) =>
  action({ name, type: 'deploy', state: 'running', endedAt: null, deploy: `kvstore/13/${name}` });
const script = action({ name: 'script', type: 'script', state: 'running', endedAt: null });

/** The workflow that a resume of the release goes to. */
async function resumed(status: Partial<ReleaseStatus>): Promise<string> {
  let target = '';
  const workflows = {
    release: () => Promise.resolve(release(status)),
    update: (workflowId: string) => {
      target = workflowId;
      return Promise.resolve({ accepted: true, effect: 'it goes on' });
    },
  } as unknown as Workflows;
  await command(workflows, 'kvstore/13', 'resume', {});
  return target;
}

describe('whatever one command has paused, resuming the release makes go on:', () => {
  test('the release, when it is paused itself, also while a single deploy of it runs', async () => {
    expect(await resumed({ state: 'paused', actions: [deploying('deploy')] })).toBe('release/kvstore/13');
    expect(await resumed({ state: 'paused', actions: [script] })).toBe('release/kvstore/13');
  });

  test('its only deploy, when that alone is paused, also while something else runs', async () => {
    const actions = [deploying('deploy'), script];
    expect(await resumed({ state: 'running', actions })).toBe('deploy/kvstore/13/deploy/1');
  });

  test('and of several deploys it asks which', async () => {
    const actions = [deploying('east'), deploying('west')];
    await expect(resumed({ state: 'running', actions })).rejects.toThrow('kvstore/13/east');
  });
});
