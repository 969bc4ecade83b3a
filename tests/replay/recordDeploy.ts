import { workflowIds } from '../../domain/ids';
import { given, type Given, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

/** Deploys that do more than go from phase to phase: groups that pause, units in step, steps, units that are away, approvals. */
export async function recordDeploys(stack: Stack, save: Save): Promise<void> {
  await recordPausedGroup(stack, save);
  await recordLockstep(stack, save);
  await recordSteps(stack, save);
  await recordFollowOn(stack, save);
  await recordApproval(stack, save);
  await recordStoppedRun(stack, save);
  await recordLarge(stack, save);
}

const BAKE = '2s';
const ALL = { name: 'all', scope: '*', amount: '100%', bake: BAKE } as const;
const COMMAND = { command: ['true'] };

/** A region is bad for a while: its group is paused and continues when it is fixed. */
async function recordPausedGroup(stack: Stack, save: Save): Promise<void> {
  const deploy: Given['deploy'] = { mode: 'parallel', pauseBy: 'region', maxPaused: 1, phases: [ALL] };
  const shop = await given(stack, { name: 'shop-parallel', nSmall: 1, restartMs: 400, deploy });
  await shop.behaves(2, { errorRatio: 0.5, onlyRegion: 'y' });
  await shop.ships(2);
  await shop.reaches(1, 'has a paused group', ({ pausedGroups = [] }) => pausedGroups.length > 0);
  await shop.behaves(2, {});
  await endsWith(shop, save, 'parallel');
}

/** Both regions in step; then a version that is bad, which goes back in step as well. */
async function recordLockstep(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, {
    name: 'shop-lockstep',
    deploy: { lockstep: true, phases: [{ ...ALL, amount: '50%' }] },
  });
  await shop.ships(2);
  await endsWith(shop, save, 'lockstep');
  await shop.behaves(3, { errorRatio: 0.5 });
  await shop.ships(3);
  await shop.ended(2);
  await save(stack, 'deploy-lockstep-reverted', shop.deployWorkflow(2));
}

/** Commands around a phase; then a person cancels, and what the command before did is undone. */
async function recordSteps(stack: Stack, save: Save): Promise<void> {
  const steps = { pre: [{ ...COMMAND, undo: COMMAND }], post: [COMMAND] };
  const deploy: Given['deploy'] = { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '1h', ...steps }] };
  const shop = await given(stack, { name: 'shop-steps', deploy });
  await shop.ships(2);
  await bakes(shop, 1);
  await shop.stack.json(['skip-bake', `${shop.name}/1/deploy`, '--reason', 'to record a history']);
  await endsWith(shop, save, 'steps');
  await shop.ships(3);
  await bakes(shop, 2);
  await shop.stack.json(['cancel', `${shop.name}/2/deploy`, '--reason', 'to record a history']);
  await shop.ended(2);
  await save(stack, 'deploy-steps-undone', shop.deployWorkflow(2));
}

const bakes = (shop: Service, release: number) =>
  shop.reaches(release, 'bakes', ({ phases }) => Boolean(phases[0]?.bakeUntil));

/** A region is down and left out; it returns, and the follow-on brings it to the version. */
async function recordFollowOn(stack: Stack, save: Save): Promise<void> {
  const deploy: Given['deploy'] = { onUnitUnavailable: 'skip', phases: [{ ...ALL, amount: 3 }] };
  const shop = await given(stack, { name: 'shop-follow-on', deploy });
  const fault = await stack.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: 'y' });
  await shop.ships(2);
  await endsWith(shop, save, 'without-unit');
  await eventually('the follow-on waits', async () => {
    const { actions } = await shop.release(2);
    return actions.some(({ blockedBy }) => blockedBy?.startsWith('waiting until') ?? false);
  });
  await stack.control('DELETE', `/control/faults/${fault.id}`);
  await shop.ended(2);
  await save(stack, 'deploy-follow-on', shop.deployWorkflow(2));
  await save(stack, 'release-follow-on', workflowIds.release(shop.name, 2));
  await save(stack, 'pipeline-follow-on', workflowIds.pipeline(shop.name));
}

/** An emergency waits until another owner has approved it. */
async function recordApproval(stack: Stack, save: Save): Promise<void> {
  const pipeline = { owners: [OWNER, 'user:bob'], emergency: { approvals: 1 } };
  const shop = await given(stack, { name: 'shop-approved', deploy: { phases: [] }, pipeline });
  const artifact = { name: 'executable', kind: 'executable', version: shop.version(2), metadata: {} };
  await stack.client.push(shop.name, 'deploy', [artifact], {
    actor: OWNER,
    reason: 'to record a history',
    skipBake: true,
  });
  await eventually('it waits for an owner', async () => {
    const { actions } = await shop.release(1);
    return actions.some(({ pickBy }) => pickBy !== null);
  });
  const pick = { action: 'deploy', approve: true, actor: 'user:bob', reason: 'to record a history' };
  await stack.client.command(`${shop.name}/1`, 'pick', pick);
  await shop.ended(1);
  await save(stack, 'release-approved', workflowIds.release(shop.name, 1));
  await save(stack, 'deploy-approved', shop.deployWorkflow(1));
}

/** A release is cancelled while an action runs, whose service does not answer when it is asked to stop. */
async function recordStoppedRun(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-stopped', pipeline: stoppable('shop-stopped') });
  const trouble = (method: string, more: object) =>
    stack.control('POST', '/control/faults', { kind: 'http', service: 'integr-test', method, mode: 'error', ...more });
  // A step that cannot be asked about continues for ever.
  await trouble('getRunProgress', {});
  await trouble('cancelRun', { count: 2 });
  await shop.ships(2);
  await eventually('the test runs', async () =>
    (await shop.release(1)).actions.some(({ state }) => state === 'running'),
  );
  await stack.json(['cancel', `${shop.name}/1`, '--reason', 'to record a history']);
  await shop.ended(1);
  await save(stack, 'release-stopped-run', workflowIds.release(shop.name, 1));
}

const stoppable = (pipeline: string): NonNullable<Given['pipeline']> => ({
  actions: {
    test: { type: 'integr-test', inputs: ['executable'] },
    deploy: {
      type: 'deploy',
      inputs: ['executable'],
      needs: ['test'],
      with: { pushType: 'twine', config: { jobs: [`${pipeline}-x`] }, phases: [] },
    },
  },
});

/** More units than travel with a workflow: a person takes the deploy back while its last phase bakes. */
export async function recordLarge(stack: Stack, save: Save): Promise<void> {
  const deploy: Given['deploy'] = {
    config: { service: 'shop-large' },
    phases: [{ ...ALL, scope: 'region:x' }],
    completion: { bake: '1h' },
    healthChecks: [],
  };
  const shop = await given(stack, { name: 'shop-large', deploy });
  const job = { service: shop.name, region: 'x', tasks: 1, version: shop.version(1), nSmall: 1, budget: 1 };
  for (let unit = 0; unit < 200; unit += 1)
    await stack.control('POST', '/control/jobs', { ...job, name: `${shop.name}-${unit}` });
  await shop.ships(2);
  await shop.reaches(1, 'bakes at last', ({ phases }) => Boolean(phases[1]?.bakeUntil));
  await stack.json(['revert', `${shop.name}/1/deploy`, '--reason', 'to record a history']);
  await endsWith(shop, save, 'large-reverted');
  for await (const { workflowId } of stack.temporal.workflow.list({ query: `WorkflowType = 'snapshot'` }))
    if (workflowId.includes(shop.name)) return save(stack, 'snapshot', workflowId);
}

async function endsWith(shop: Service, save: Save, name: string): Promise<void> {
  await shop.ended(1);
  await save(shop.stack, `deploy-${name}`, shop.deployWorkflow(1));
}
