import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import type { JobView, VirtualWorld } from '../workflows/world';
import { judgeSteps } from './judgeSteps';
import { deploysOf, releasesOf, type Deploy } from './play';
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
export async function judge(world: VirtualWorld, { pipeline, source }: Scenario): Promise<void> {
  const releases = await releasesOf(world, pipeline);
  const deploys = await deploysOf(world, pipeline);
  for (const deploy of deploys) {
    expect(OUTCOMES).toContain(deploy.outcome);
    expect(CLASSIFIED[deploy.outcome ?? '']).toContain(deploy.classification);
    expectAccounts(deploy);
    judgeSteps(world.slow.runs, deploy);
  }
  const jobs = await world.jobs();
  for (const job of jobs) expectSettled(job, deploys);
  for (const deploy of deploys) expectFollowed(deploy, releases);
  if (source.emergency?.approvals) for (const release of releases) expectApproved(release, deploys);
  expect(await world.control('GET', '/control/violations')).toEqual([]);
}

function expectAccounts({ spans, startedAt, endedAt }: DeployStatus): void {
  const accounted = Object.values(spans).reduce((total, ms) => total + ms, 0);
  expect(accounted).toBe(Date.parse(endedAt ?? '') - Date.parse(startedAt));
}

/** The fleet is as the last deploy of a job says; one that was stopped, or left the job out, says nothing. */
function expectSettled(job: JobView, deploys: readonly Deploy[]): void {
  const last = deploys.filter((deploy) => touches(deploy, job)).at(-1);
  if (last === undefined || last.skipped?.includes(job.name)) return;
  if (last.outcome === 'succeeded') expectDeployed(last, job);
  if (last.outcome === 'reverted') expectGone(last, job);
}

function touches({ outcome, phases, revert }: DeployStatus, { name }: JobView): boolean {
  const isOf = (units: readonly { readonly id: string }[]) => units.some(({ id }) => id === name);
  if (outcome === 'reverted')
    return revert !== null && isOf([...revert.units, ...phases.flatMap(({ units }) => units)]);
  if (outcome === 'succeeded') return isOf(phases.flatMap(({ units }) => units));
  return phases.some(({ startedAt }) => startedAt !== null);
}

/** Every task but those that it reported, and whatever starts from now on. */
function expectDeployed({ version, phases }: DeployStatus, job: JobView): void {
  expect([job.name, job.jobVersion]).toEqual([job.name, version]);
  const reported = phases.at(-1)?.units.find(({ id }) => id === job.name);
  const left = job.size - (job.versions[version] ?? 0);
  expect(left).toBeLessThanOrEqual(Math.max(0, (reported?.targeted ?? 0) - (reported?.updated ?? 0)));
}

/** Also of a unit that it updated and that its revert says nothing of. */
function expectGone({ version, revert }: DeployStatus, job: JobView): void {
  const back = revert?.units.find(({ id }) => id === job.name)?.toVersion;
  if (back !== undefined) expect([job.name, job.jobVersion]).toEqual([job.name, back]);
  if (back !== version) expect([job.jobVersion, ...Object.keys(job.versions)]).not.toContain(version);
}

/** What a deploy left out is brought to its version by releases that follow, or the last of them says why not. */
function expectFollowed(deploy: Deploy, releases: readonly ReleaseStatus[]): void {
  const { outcome, skipped = [], release } = deploy;
  if (outcome !== 'succeeded' || skipped.length === 0) return;
  const { trigger } = releases.find(({ number }) => number === release) as ReleaseStatus;
  const of = trigger.kind === 'follow-on' ? trigger.of : release;
  const next = releases.find(
    ({ number, trigger: why }) => number > release && why.kind === 'follow-on' && why.of === of,
  );
  const newer = releases.find(({ number, trigger: why }) => number > release && why.of !== of);
  expect(next ?? newer).toBeDefined();
  if (next?.state !== 'succeeded') expect(next === undefined || next.cause !== null || why(next)).toBeTruthy();
}

const why = ({ actions }: ReleaseStatus) =>
  actions.find(({ state }) => state === 'failed' || state === 'cancelled')?.message;

/** An emergency that others have to approve deploys nothing before one of them has. */
function expectApproved({ number, trigger, commands }: ReleaseStatus, deploys: readonly Deploy[]): void {
  if (trigger.kind !== 'emergency' || !deploys.some(({ release }) => release === number)) return;
  const approvals = commands.filter(
    ({ verb, accepted, actor }) => verb === 'pick' && accepted && actor !== trigger.actor,
  );
  expect(approvals).not.toEqual([]);
}
