import { workflowIds } from '../../domain/ids';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ActionView } from '../../domain/views';
import { given, type Given, type Service } from '../system/service';
import { OWNER, type Stack } from '../system/stack';
import { eventually } from '../system/waiting';

/** Keeps the history of a workflow under a name. */
export type Save = (stack: Stack, name: string, workflowId: string) => Promise<void>;

type Actions = PipelineSource['actions'];

const PHASES = [{ name: 'first', scope: 'region:x', amount: 3, bake: '1h' }];

/** A pipeline with more than a deploy, each of whose phases bakes for as long as told. */
function shopWith(
  stack: Stack,
  name: string,
  more: Partial<PipelineSource>,
  before: Actions = {},
  deploy: object = {},
) {
  const jobs = [`${name}-x`, `${name}-y`];
  const whole = { pushType: 'twine', config: { jobs }, phases: PHASES, completion: { bake: '0s' } };
  const needs = Object.keys(before);
  const actions = { ...before, deploy: { type: 'deploy', inputs: ['executable'], needs, with: whole, ...deploy } };
  const pipeline = { actions: actions as Actions, ...more };
  return given(stack, { name, pipeline } satisfies Given);
}

const actionIs = (shop: Service, release: number, name: string, what: string, holds: (action: ActionView) => boolean) =>
  eventually(`${name} of ${shop.name}/${release} ${what}`, async () => {
    const action = (await shop.release(release)).actions.find((each) => each.name === name);
    return action !== undefined && holds(action);
  });

const say = (shop: Service, ...command: readonly string[]) =>
  shop.stack.json([...command, '--reason', 'to record a history']);

const bakes = (shop: Service, release: number) =>
  shop.reaches(release, 'bakes', ({ phases }) => Boolean(phases[0]?.bakeUntil));

const skipBake = async (shop: Service, release: number): Promise<void> => {
  await bakes(shop, release);
  await say(shop, 'skip-bake', `${shop.name}/${release}/deploy`);
};

/** The newer of two that wait for a person is picked. */
async function recordPick(stack: Stack, save: Save): Promise<void> {
  const shop = await shopWith(stack, 'shop-picked', {}, { approve: { type: 'manual-pick' } });
  for (const n of [2, 3]) {
    await shop.ships(n);
    await actionIs(shop, n - 1, 'approve', 'waits', ({ pickBy }) => pickBy !== null);
  }
  await save(stack, 'release-at-pick', workflowIds.release(shop.name, 1));
  const pick = { action: 'approve', approve: true, actor: OWNER, reason: 'to record a history' };
  await stack.client.command(`${shop.name}/2`, 'pick', pick);
  await shop.ended(1);
  await save(stack, 'release-unpicked', workflowIds.release(shop.name, 1));
  await skipBake(shop, 2);
  await shop.ended(2);
  await save(stack, 'release-picked', workflowIds.release(shop.name, 2));
  await save(stack, 'pipeline-picked', workflowIds.pipeline(shop.name));
}

/** Two releases take turns at a group of the pipeline and at one across pipelines. */
async function recordGroups(stack: Stack, save: Save): Promise<void> {
  const mutex = ['prod', 'rig'];
  const test: Actions[string] = { type: 'integr-test', inputs: ['executable'], mutex };
  const more = { mutex: { prod: {}, rig: { scope: 'global' } }, releases: { supersede: 'never' } } as const;
  const shop = await shopWith(stack, 'shop-grouped', more, { test }, { mutex });
  for (const n of [2, 3]) await shop.ships(n);
  await bakes(shop, 1);
  await save(stack, 'lock-of-group', workflowIds.groupLock('rig'));
  await skipBake(shop, 1);
  await shop.ended(1);
  await skipBake(shop, 2);
  await shop.ended(2);
  for (const n of [1, 2]) await save(stack, `release-grouped-${n}`, workflowIds.release(shop.name, n));
  await save(stack, 'pipeline-grouped', workflowIds.pipeline(shop.name));
}

/** Two releases wait for the next minute; the newer deploys. */
async function recordCalendar(stack: Stack, save: Save): Promise<void> {
  const schedule = { mode: 'calendar', calendar: '* * * * *', timezone: 'America/Los_Angeles' } as const;
  const shop = await shopWith(stack, 'shop-calendar', { schedule });
  for (const n of [2, 3]) await shop.ships(n);
  await eventually('the minute is full', async () => (await shop.release(2)).actions[0]?.state === 'running', 70_000);
  await skipBake(shop, 2);
  await shop.ended(2);
  await save(stack, 'release-calendar', workflowIds.release(shop.name, 2));
  await save(stack, 'pipeline-calendar', workflowIds.pipeline(shop.name));
}

async function recordEmergency(stack: Stack, save: Save): Promise<void> {
  const shop = await shopWith(stack, 'shop-emergency', {});
  await shop.ships(2);
  await bakes(shop, 1);
  const artifact = { name: 'executable', kind: 'executable', version: shop.version(3), metadata: {} };
  const how = { actor: OWNER, reason: 'to record a history', skipBake: true };
  await stack.client.push(shop.name, 'deploy', [artifact], how);
  await shop.ended(1);
  await shop.ended(2);
  for (const [number, name] of [
    [1, 'preempted'],
    [2, 'emergency'],
  ] as const) {
    await save(stack, `deploy-${name}`, shop.deployWorkflow(number));
    await save(stack, `release-${name}`, workflowIds.release(shop.name, number));
  }
  await save(stack, 'pipeline-emergency', workflowIds.pipeline(shop.name));
}

async function recordFreeze(stack: Stack, save: Save): Promise<void> {
  const shop = await shopWith(stack, 'shop-frozen', {});
  await shop.ships(2);
  await bakes(shop, 1);
  await say(shop, 'freeze', shop.name);
  await shop.ships(3);
  await skipBake(shop, 1);
  await shop.reaches(1, 'is frozen', ({ paused }) => paused?.by === 'freeze');
  await say(shop, 'unfreeze', shop.name);
  await shop.ended(1);
  await skipBake(shop, 2);
  await shop.ended(2);
  await save(stack, 'deploy-frozen', shop.deployWorkflow(1));
  await save(stack, 'release-frozen', workflowIds.release(shop.name, 1));
  await save(stack, 'pipeline-frozen', workflowIds.pipeline(shop.name));
}

/** With supersede: running the newer stops the older after its phase. */
async function recordOvertaken(stack: Stack, save: Save): Promise<void> {
  const shop = await shopWith(stack, 'shop-overtaken', { releases: { supersede: 'running' } });
  await shop.ships(2);
  await bakes(shop, 1);
  await shop.ships(3);
  await actionIs(shop, 2, 'deploy', 'waits', ({ blockedBy }) => blockedBy?.includes('make way') === true);
  await skipBake(shop, 1);
  await shop.ended(1);
  await skipBake(shop, 2);
  await shop.ended(2);
  await save(stack, 'deploy-overtaken', shop.deployWorkflow(1));
  await save(stack, 'release-overtaken', workflowIds.release(shop.name, 1));
  await save(stack, 'pipeline-overtaken', workflowIds.pipeline(shop.name));
}

/** A release whose test failed is run again: actions that had succeeded are carried over. */
export async function recordRerun(stack: Stack, save: Save): Promise<void> {
  const script = (...command: string[]): Actions[string] => ({ type: 'custom-script', with: { command } });
  const test = script('sh', '-c', 'test "$CONVEYOR_RELEASE" != shop-rerun/1');
  const shop = await shopWith(stack, 'shop-rerun', {}, { check: script('true'), test });
  await shop.ships(2);
  await shop.ended(1);
  await say(shop, 'rerun', `${shop.name}/1`);
  await skipBake(shop, 2);
  await shop.ended(2);
  await save(stack, 'release-rerun', workflowIds.release(shop.name, 2));
  await save(stack, 'pipeline-rerun', workflowIds.pipeline(shop.name));
}

/** The pipeline model: picks, groups, calendars, emergencies, freezes and those who make way. */
export async function recordModel(stack: Stack, save: Save): Promise<void> {
  for (const play of [recordPick, recordGroups, recordCalendar, recordEmergency, recordFreeze, recordOvertaken])
    await play(stack, save);
}
