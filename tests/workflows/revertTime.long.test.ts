import type { DeployStatus } from '../../domain/views';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { exampleFleet, exampleSource } from '../setup/examples';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** How long the storage service of Conveyor §6.5.3, from examples/storage, takes to return to its previous version. */
const FILE = 'storage/pipeline.yaml';
const settings = {
  ...DEFAULT_SETTINGS,
  heartbeatTimeoutMs: HOUR,
  trackIntervalMs: MINUTE,
  reconcileIntervalMs: 24 * HOUR,
};

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const job of exampleFleet(FILE)) await world.control('POST', '/control/jobs', job);
});
/** Fails if a unit went below its budget. */
afterEach(() => world.close());

function begun(): Promise<LoneDeploy> {
  const { deploy } = pipelineSchema.parse(exampleSource(FILE)).actions;
  if (deploy?.type !== 'deploy') throw new Error('no deploy');
  return deploying(world, { pipeline: 'storage', spec: { ...deploy.with, healthChecks: [] }, settings });
}

const at = (time: string | null | undefined): number => Date.parse(time ?? '');

/** The durations of the phases until the revert began, for their updates and their bakes. */
const spentMs = ({ phases, revert }: DeployStatus): number =>
  phases
    .filter(({ startedAt }) => startedAt !== null)
    .reduce((sum, { startedAt, bakedAt }) => sum + at(bakedAt ?? revert?.startedAt) - at(startedAt), 0);

/** Lets time pass until a phase is in a state, then `ms` more. */
async function untilPhase(deploy: LoneDeploy, name: string, state: DeployStatus['state'], ms: number): Promise<void> {
  const isThere = (status: DeployStatus) =>
    status.state === state && status.phases.some((phase) => phase.name === name && phase.state === 'running');
  await deploy.reaches(isThere, { stepMs: 5 * MINUTE });
  await world.sleep(ms);
}

test.each<[string, string, DeployStatus['state'], number]>([
  ['at the end of the bake of the first phase', 'first-job', 'baking', 57 * MINUTE],
  ['in the middle of the updates of the fourth phase', 'region-b', 'updating', 10 * MINUTE],
])(
  '%s everything is back in a third of the time that the phases took, within the budget',
  async (_, phase, state, ms) => {
    const deploy = await begun();
    await untilPhase(deploy, phase, state, ms);
    await deploy.command('revert');
    expect((await deploy.ended({ stepMs: MINUTE })).outcome).toBe('reverted');
    const status = await deploy.status();
    const tookMs = at(status.revert?.endedAt) - at(status.revert?.startedAt);
    expect(tookMs).toBeGreaterThan(0);
    expect(tookMs).toBeLessThanOrEqual(spentMs(status) / 3);
    for (const { versions, size } of await world.jobs()) expect(versions).toEqual({ 'storage:11': size });
  },
  300_000,
);
