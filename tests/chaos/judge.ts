import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import type { JobView, VirtualWorld } from '../workflows/world';
import { judgeConfiguration } from './judgeConfiguration';
import { judgeOffers } from './judgeOffers';
import { judgeSteps } from './judgeSteps';
import { canariesOf, deploysOf, releasesOf, type Deploy } from './play';
import { membersOf, type Scenario } from './scenario';

const OUTCOMES = ['succeeded', 'reverted', 'failed', 'cancelled', 'revert-failed'];
const CLASSIFIED: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['success'],
  reverted: ['good-failure', 'bad-failure'],
  failed: ['good-failure', 'bad-failure'],
  cancelled: ['good-failure', 'bad-failure'],
  'revert-failed': ['bad-failure'],
};

/** The facts that hold at the end of any story: no checker complained, deploys ended with a worded result, and the fleet matches their results. */
export async function judge(world: VirtualWorld, scenario: Scenario): Promise<void> {
  const { configuration, offering } = scenario;
  await judgeDeploys(world, scenario, 'deploy');
  for (const member of membersOf(scenario)) {
    const story = { ...scenario, ...member };
    if (member.pipeline !== scenario.pipeline) await judgeDeploys(world, story, 'deploy');
    if (member.source.actions['early']) await judgeDeploys(world, story, 'early');
  }
  if (configuration) await judgeConfiguration(world, await deploysOf(world, scenario.pipeline));
  if (offering) await judgeOffers(world, scenario, offering);
  expect(await world.control('GET', '/control/violations')).toEqual([]);
}

async function judgeDeploys(
  world: VirtualWorld,
  { pipeline, source, happenings, jobs: mine, offering }: Scenario,
  action: string,
): Promise<void> {
  const releases = await releasesOf(world, pipeline);
  const deploys = await deploysOf(world, pipeline, action);
  const canaries = source.actions['canary'] && action === 'deploy' ? await canariesOf(world, pipeline) : [];
  const isLockStopped = happenings.some((it) => it.kind === 'temporal' && it.of === 'lock');
  const isTerminated = happenings.some((it) => it.kind === 'temporal' && it.how === 'terminate');
  for (const deploy of [...deploys, ...canaries]) {
    // A terminated deploy reports nothing any more.
    if (isTerminated && deploy.outcome === null) continue;
    expect(OUTCOMES).toContain(deploy.outcome);
    expect(CLASSIFIED[deploy.outcome ?? '']).toContain(deploy.classification);
    expectAccounts(deploy);
    expectAnswered(deploy);
    if (!isLockStopped) expectBeside(deploy, canaries);
  }
  for (const deploy of deploys) if (deploy.outcome !== null) judgeSteps(world.slow.runs, deploy);
  const isOwn = ({ name }: JobView): boolean =>
    mine.some((job) => job.name === name) && (name === `${pipeline}-early`) === (action === 'early');
  const jobs = (await world.jobs()).filter((job) => offering === undefined || isOwn(job));
  for (const job of jobs) expectSettled(job, deploys);
  for (const canary of canaries) if (!hasFailedLike(canary, canaries)) expectUndone(canary, jobs, deploys);
  for (const deploy of deploys) expectFollowed(deploy, releases);
  if (source.emergency?.approvals) for (const release of releases) expectApproved(release, deploys);
}

function expectAccounts({ spans, startedAt, endedAt }: DeployStatus): void {
  const accounted = Object.values(spans).reduce((total, ms) => total + ms, 0);
  expect(accounted).toBe(Date.parse(endedAt ?? '') - Date.parse(startedAt));
}

/** Our push type answers about every unit and update: no fault makes it forget one. */
function expectAnswered({ timeline }: DeployStatus): void {
  const texts = timeline.map(({ text }) => text);
  expect(texts.filter((text) => /does not report what|unknown-update/.test(text))).toEqual([]);
}

/** No revert waits for a running canary. A canary that has ended leaves an update behind if one of its tasks is unreachable. */
function expectBeside({ timeline }: DeployStatus, canaries: readonly Deploy[]): void {
  const inTheWay = timeline.filter(({ at, text }) => {
    const number = Number(/not taken: .* updated by deploy\/[^/]+\/(\d+)\/canary\//.exec(text)?.[1] ?? NaN);
    const present = canaries.filter(({ release }) => release === number);
    return present.length > 0 && present.every(({ endedAt }) => endedAt === null || endedAt > at);
  });
  expect(inTheWay).toEqual([]);
}

/** The fleet matches the last deploy of a job; a deploy that was stopped, or left the job out, proves nothing. */
function expectSettled(job: JobView, deploys: readonly Deploy[]): void {
  // An emergency may wait for approval while releases of a higher number deploy.
  const inOrder = [...deploys].sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt));
  const touching = inOrder.filter((deploy) => touches(deploy, job));
  const last = touching.at(-1);
  if (last === undefined || last.skipped?.includes(job.name)) return;
  if (last.outcome === 'succeeded') expectDeployed(last, job);
  if (last.outcome === 'reverted') expectGone(last, job, leftBehind(touching.slice(0, -1), job));
}

/**
 * Versions that deploys left on a job and that no deploy has replaced since: a reverted deploy takes back only its own tasks. A deploy that left the
 * job out, after it had updated some of its tasks, leaves those to its follow-on.
 */
function leftBehind(deploys: readonly Deploy[], { name }: Pick<JobView, 'name'>): string[] {
  const settled = deploys.findLastIndex(
    ({ outcome, skipped = [] }) => outcome === 'reverted' || (outcome === 'succeeded' && !skipped.includes(name)),
  );
  return deploys.slice(settled + 1).map(({ version }) => version);
}

function touches({ outcome, phases, revert }: DeployStatus, { name }: JobView): boolean {
  const isOf = (units: readonly { readonly id: string }[]) => units.some(({ id }) => id === name);
  if (outcome === 'reverted')
    return revert !== null && isOf([...revert.units, ...phases.flatMap(({ units }) => units)]);
  // With many units a phase names only some; the last one has all of them.
  const isCut = phases.some(({ units, totals }) => (totals?.units ?? 0) > units.length);
  if (outcome === 'succeeded') return isCut || isOf(phases.flatMap(({ units }) => units));
  return phases.some(({ startedAt }) => startedAt !== null);
}

/** Another canary of the same version could not go back, and its tasks cannot be told from those of this one. */
const hasFailedLike = ({ version }: Deploy, canaries: readonly Deploy[]): boolean =>
  canaries.some((canary) => canary.version === version && canary.outcome === 'revert-failed');

/** Nothing of a canary remains, except a version that a deploy brought as well; with many units it names only some of them. */
function expectUndone({ version, outcome }: Deploy, jobs: readonly JobView[], deploys: readonly Deploy[]): void {
  if (outcome === null) return;
  for (const job of jobs) {
    const brought = deploys.filter((deploy) => deploy.version === version);
    const isDeployed = brought.some((deploy) => deploy.outcome === 'succeeded' || touches(deploy, job));
    if (!isDeployed) expect([job.name, job.jobVersion, ...Object.keys(job.versions)]).not.toContain(version);
  }
}

/** Every task except those that it reported, and every task that starts from now on. */
function expectDeployed({ version, phases }: DeployStatus, job: JobView): void {
  expect([job.name, job.jobVersion]).toEqual([job.name, version]);
  const reported = phases.at(-1)?.units.find(({ id }) => id === job.name);
  const left = job.size - (job.versions[version] ?? 0);
  expect(left).toBeLessThanOrEqual(Math.max(0, (reported?.targeted ?? 0) - (reported?.updated ?? 0)));
}

/** Includes a unit that it updated and that its revert does not mention. */
function expectGone({ version, revert }: DeployStatus, job: JobView, left: readonly string[]): void {
  const back = revert?.units.find(({ id }) => id === job.name)?.toVersion;
  const isBack = back === undefined || [back, ...left].includes(job.jobVersion);
  expect({ job: job.name, back, runs: job.jobVersion, left, isBack }).toMatchObject({ isBack: true });
  // Tasks of an earlier deploy of the same version are not its own.
  const isLeft = back === version || left.includes(version);
  if (!isLeft) expect([job.jobVersion, ...Object.keys(job.versions)]).not.toContain(version);
}

/** Follow-on releases bring the units that a deploy left out to its version, or the last of them gives the reason why not. */
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

/** An emergency that needs approval deploys nothing before it is approved. */
function expectApproved({ number, trigger, commands }: ReleaseStatus, deploys: readonly Deploy[]): void {
  if (trigger.kind !== 'emergency' || !deploys.some(({ release }) => release === number)) return;
  const approvals = commands.filter(
    ({ verb, accepted, actor }) => verb === 'pick' && accepted && actor !== trigger.actor,
  );
  expect(approvals).not.toEqual([]);
}
