import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { workflowIds } from '../../domain/ids';
import { startFront, type Front } from './front';
import { lastKnown, Night, READY } from './night';
import { Processes, type Running } from './process';
import { startTemporal } from './server';
import { given, PATIENT, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/**
 * Workers without a build, of one build, of the next, and without one again, as described in docs/guides/cluster.md#upgrades. This file has its own
 * server, because the current build applies to all workers on a server.
 */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-builds-'));
let [stack, front, night] = [] as unknown as [Stack, Front, Night];
let worker: Running | undefined;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
  front = await startFront(stack);
  night = new Night(stack, () => front);
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** Starts a worker, makes its build current, and kills the previous worker. */
async function upgradeTo(build: string | null): Promise<void> {
  const before = worker;
  worker = stack.processes.node('dist/workers/main.js', [], {
    ...stack.env,
    ...(build === null ? {} : { CONVEYOR_WORKER_BUILD: build }),
  });
  await worker.said(/^conveyor worker ready/m);
  await eventually(`${build} is current`, () =>
    stack
      .temporalCli([
        ...['worker', 'deployment', 'set-current-version', '--yes', '--deployment-name', 'conveyor'],
        ...(build === null ? ['--unversioned'] : ['--build-id', build]),
      ])
      .catch(() => undefined),
  );
  if (before === undefined) return stack.killWorker();
  before.kill('SIGKILL');
  await before.ended;
}

async function versionOf(workflow: string): Promise<{ build: string | null; behaviour: number }> {
  const { raw } = await stack.temporal.workflow.getHandle(workflow).describe();
  const info = raw.workflowExecutionInfo?.versioningInfo;
  // Values of temporal.api.enums.v1.VersioningBehavior.
  return { build: info?.deploymentVersion?.buildId ?? null, behaviour: Number(info?.behavior ?? 0) };
}

/** Each service releases once more, and long-lived workflows are with the present workers. */
async function allRelease(services: readonly Service[], build: string | null): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      const number = Number((await service.ships(2 + services.length)).split('/').at(-1));
      expect(await service.ended(number)).toMatchObject({ state: 'succeeded' });
      expect(await versionOf(`pipeline/${service.name}`)).toEqual({ build, behaviour: build === null ? 0 : 2 });
      expect(await versionOf(workflowIds.release(service.name, number))).toMatchObject({ build });
    }),
  );
}

test('pipelines go with the workers, from none to build to build and to none, and a deploy under way goes back wherever it is', async () => {
  const services = [await given(stack)];
  await allRelease(services, null);
  const stuck: Service[] = [];
  for (const build of ['a', 'b', null]) {
    const underWay = await baking();
    await upgradeTo(build);
    if (build === 'a') await goesBack(underWay);
    else stuck.push(underWay);
    services.push(await given(stack));
    await allRelease(services, build);
  }
  await showStuck(stuck);
  const { stdout } = await stack.conveyor(['doctor', '--repair']);
  for (const service of stuck) {
    expect(stdout).toContain(service.deployWorkflow(1));
    await goesBack(service);
  }
  // Tasks that the last worker of a build left behind count until its polls are forgotten.
  await night.isWell(FORGOTTEN_WITHIN_MS);
});

test('a build that gets new work and has no workers is named by doctor, the probe, the metric and status, with what to type', async () => {
  const service = await given(stack);
  await upgradeTo('c');
  await allRelease([service], 'c');
  worker?.kill('SIGKILL');
  await worker?.ended;
  expect(await night.isUnready(FORGOTTEN_WITHIN_MS)).toEqual({
    ...{ status: 503, metric: ['worker'] },
    lacks: { worker: expect.stringMatching(/^no worker of build c polls /) as string },
  });
  for (const { broken } of await night.bothName(['builds of workers'])) {
    expect(broken['builds of workers']).toMatchObject({
      found: `no worker of build c polls the task queue ${stack.taskQueue}, and all new work waits for one`,
      how: 'conveyor worker --build c',
    });
  }
  const error = `no-worker: ${service.name} exists, but no worker of build c polls its task queue ${stack.taskQueue}`;
  expect(await night.status(service.name)).toEqual({
    ...lastKnown(service.name, error),
    hint: expect.stringMatching(/^hint: start one with conveyor worker --build c; /) as string,
  });
  await upgradeTo('c');
  await night.isWell();
});

/** A service whose release has updated one task, and bakes for an hour. */
async function baking(): Promise<Service> {
  const service = await given(stack, PATIENT);
  await service.ships(2);
  await service.isIn(1, 'baking');
  return service;
}

async function goesBack(service: Service): Promise<void> {
  expect(await stack.conveyor(['revert', `${service.name}/1`, '--reason', 'builds'])).toMatchObject({ code: 0 });
  expect(await service.isIn(1, 'ended')).toMatchObject({ outcome: 'reverted' });
  expect(await service.runs()).toEqual({ 1: 12 });
}

/** Dead workers count as present for two minutes, since they may only be silent. */
const FORGOTTEN_WITHIN_MS = 180_000;

/** Each service has a deploy on a build without workers; everything else works. */
async function showStuck(services: readonly Service[]): Promise<void> {
  const names = ['build a', 'build b'];
  const shown = async (look: () => ReturnType<Night['doctor']>): Promise<boolean> => {
    const { code, broken } = await look();
    const found = Object.values(broken).map((check) => check.found);
    if (names.some((name) => broken[name] === undefined)) throw new Error(JSON.stringify(broken));
    expect([code, Object.keys(broken).sort()]).toEqual([1, names]);
    return services.every((service) => found.some((words) => words.includes(service.deployWorkflow(1))));
  };
  await eventually('doctor names the deploys that are stuck', () => shown(() => night.doctor()), FORGOTTEN_WITHIN_MS);
  await eventually('so it does through the server', () => shown(() => night.throughServer()));
  expect(await night.readyz()).toEqual(READY);
  for (const [index, service] of services.entries()) {
    const build = names[index] ?? '';
    const release = `${service.name}/1`;
    expect(await night.status(release)).toEqual({
      ...lastKnown(service.name, `no-worker: ${release} exists, but no worker of ${build} polls its task queue`),
      hint: expect.stringContaining(`start one with conveyor worker --${build}; conveyor doctor lists`) as string,
    });
  }
  const baking = () => night.metric('conveyor_deploys{state="baking"}');
  await eventually('the server counts them as baking', async () => (await baking()) === services.length);
}
