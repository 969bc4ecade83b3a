import type { DeployStatus } from '../../domain/views';
import type { JobView, VirtualWorld } from '../workflows/world';
import { deploysOf } from './play';
import type { Scenario } from './scenario';

const OUTCOMES = ['succeeded', 'reverted', 'failed', 'cancelled', 'revert-failed'];
const CLASSIFIED: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['success'],
  reverted: ['good-failure', 'bad-failure'],
  failed: ['good-failure', 'bad-failure'],
  cancelled: ['good-failure', 'bad-failure'],
  'revert-failed': ['bad-failure'],
};

/** Everything that holds at the end of any story: no checker complained, deploys ended in words, and the fleet is as they say. */
export async function judge(world: VirtualWorld, { pipeline }: Scenario): Promise<void> {
  const deploys = await deploysOf(world, pipeline);
  const jobs = await world.jobs();
  for (const deploy of deploys) {
    expect(OUTCOMES).toContain(deploy.outcome);
    expect(CLASSIFIED[deploy.outcome ?? '']).toContain(deploy.classification);
    expectAccounts(deploy);
  }
  const last = deploys.filter(({ phases }) => phases.some(({ startedAt }) => startedAt !== null)).at(-1);
  if (last?.outcome === 'succeeded') expectDeployed(last, jobs);
  if (last?.outcome === 'reverted') expectGone(last, jobs);
  expect(await world.control('GET', '/control/violations')).toEqual([]);
}

function expectAccounts({ spans, startedAt, endedAt }: DeployStatus): void {
  const accounted = Object.values(spans).reduce((total, ms) => total + ms, 0);
  expect(accounted).toBe(Date.parse(endedAt ?? '') - Date.parse(startedAt));
}

/** Every task but those that it reported, and whatever starts from now on. */
function expectDeployed({ version, phases }: DeployStatus, jobs: readonly JobView[]): void {
  for (const job of jobs) {
    expect([job.name, job.jobVersion]).toEqual([job.name, version]);
    const reported = phases.at(-1)?.units.find(({ id }) => id === job.name);
    const left = job.size - (job.versions[version] ?? 0);
    expect(left).toBeLessThanOrEqual(Math.max(0, (reported?.targeted ?? 0) - (reported?.updated ?? 0)));
  }
}

function expectGone({ version }: DeployStatus, jobs: readonly JobView[]): void {
  for (const job of jobs) {
    expect(Object.keys(job.versions)).not.toContain(version);
    expect(job.jobVersion).not.toBe(version);
  }
}
