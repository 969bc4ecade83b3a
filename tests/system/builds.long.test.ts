import { getListedBuild } from '../../client/builds';
import { workflowIds } from '../../domain/ids';
import { startFront } from './front';
import type { Running } from './process';
import { given, PATIENT } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** Upgrades workers during deploys: two builds side by side, as described in docs/guides/cluster.md#upgrades. */
let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open({ env: { CONVEYOR_WORKER_BUILD: 'one' } });
  await makeCurrent('one');
});
afterAll(() => stack.close());

/** Temporal accepts a build as current once it has seen a worker of it. */
const makeCurrent = (build: string): Promise<unknown> =>
  eventually(`${build} is the current build`, () =>
    stack
      .temporalCli([
        ...['worker', 'deployment', 'set-current-version', '--yes'],
        ...['--deployment-name', 'conveyor', '--build-id', build],
      ])
      .catch(() => undefined),
  );

async function startWorker(build: string): Promise<Running> {
  const worker = stack.processes.node('dist/workers/main.js', [], { ...stack.env, CONVEYOR_WORKER_BUILD: build });
  await worker.said(new RegExp(`^conveyor worker ready.*build ${build}`, 'm'));
  return worker;
}

async function buildOf(workflow: string): Promise<string | undefined> {
  const { raw } = await stack.temporal.workflow.getHandle(workflow).describe();
  const info = raw.workflowExecutionInfo?.versioningInfo;
  return info?.deploymentVersion?.buildId ?? undefined;
}

async function behaviourOf(workflow: string): Promise<string> {
  const { raw } = await stack.temporal.workflow.getHandle(workflow).describe();
  // Values of temporal.api.enums.v1.VersioningBehavior.
  const names = ['', 'PINNED', 'AUTO_UPGRADE'];
  return names[Number(raw.workflowExecutionInfo?.versioningInfo?.behavior)] ?? '';
}

test('a deploy ends on the build that it began on, whatever is current; pipelines and what is new go to the current one', async () => {
  const old = await given(stack, PATIENT);
  const first = await old.ships(2);
  await old.isIn(1, 'baking');
  await startWorker('two');
  await makeCurrent('two');

  const fresh = await given(stack);
  expect(
    await stack.conveyor(['release', fresh.name, '--artifact', `executable=${fresh.version(2)}`, '--wait']),
  ).toMatchObject({ code: 0 });
  expect(await buildOf(`release/${fresh.name}/1`)).toBe('two');
  expect(await buildOf(`deploy/${fresh.name}/1/deploy/1`)).toBe('two');
  expect(await buildOf(`deploy/${first}/deploy/1`)).toBe('one');

  await stack.killWorker();
  await stack.startWorker();
  const reverted = await stack.conveyor(['revert', `${first}/deploy`, '--reason', 'the upgrade is through']);
  expect(reverted).toMatchObject({ code: 0 });
  expect(await old.isIn(1, 'ended')).toMatchObject({ outcome: 'reverted' });
  expect(await buildOf(`deploy/${first}/deploy/1`)).toBe('one');
  await eventually('its pipeline has moved', async () => (await buildOf(`pipeline/${old.name}`)) === 'two');
});

test('the work of each build is counted apart, so that what waits for one that is gone makes no other one look busy', async () => {
  const front = await startFront(stack);
  const waits = async (build: string): Promise<number> => {
    const text = await (await fetch(`${front.url}/metrics`)).text();
    const name = 'conveyor_task_queue_backlog_age_seconds';
    const row = new RegExp(`^${name}\\{queue="main",kind="workflow"${build}\\} (\\S+)$`, 'm').exec(text);
    return Number(row?.[1] ?? NaN);
  };
  const third = await startWorker('three');
  await makeCurrent('three');
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await makeCurrent('two');
  // Lists use this one to find work that waits for a build that is gone (client/problems.ts).
  const listed = await eventually('visibility knows its build', async () => {
    for await (const info of stack.temporal.workflow.list({ query: `WorkflowId = 'release/${shop.name}/1'` }))
      return getListedBuild(info);
    return undefined;
  });
  expect(listed).toBe('three');
  third.kill('SIGKILL');
  await third.ended;
  await stack.temporal.workflow.getHandle(`deploy/${shop.name}/1/deploy/1`).signal('pause', { actor: OWNER });
  await eventually('a command waits', async () => (await waits(',build="three"')) > 1);
  expect(await waits(',build="two"')).toBe(0);
  expect(await waits('')).toBe(0);
  await startWorker('three');
  await eventually('nothing waits', async () => (await waits(',build="three"')) === 0);
});

test('every type of workflow that may outlive a build of workers says that it follows the current one', async () => {
  const shop = await given(stack);
  const id = await shop.ships(2);
  await shop.isIn(1, 'baking');
  expect(await behaviourOf(workflowIds.serviceLock('twine', shop.name))).toBe('AUTO_UPGRADE');
  expect(await behaviourOf(`pipeline/${shop.name}`)).toBe('AUTO_UPGRADE');
  expect(await behaviourOf(`release/${id}`)).toBe('PINNED');
});
