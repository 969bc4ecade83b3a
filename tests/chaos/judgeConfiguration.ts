import type { SubscriberCounts } from '../../simulator/configerator/subscribers';
import { MINUTE, type VirtualWorld } from '../workflows/world';
import { PATH, REPOSITORY } from './configuration';
import type { Deploy } from './play';

/** Deploys with these outcomes leave hosts on the version that they were given, as deploys of executables do. */
const LEAVES = ['failed', 'cancelled', 'revert-failed', null];

/** The facts that hold at the end of a story of configuration: every host has the committed value, and that is the one that the deploys report. */
export async function judgeConfiguration(world: VirtualWorld, deploys: readonly Deploy[]): Promise<void> {
  const { state, fleet } = world.simulator.simulation;
  const isWhole = () => state.configerator.faults.size === 0 && fleet.faults.size === 0;
  const isCalm = () => world.control('GET', '/control/violations').then(isWhole);
  await world.until('the tree and the places of its hosts are whole again', isCalm);
  await world.sleep(2 * MINUTE);
  const readers = () =>
    world.control<SubscriberCounts>('GET', `/control/config/subscribers?path=${encodeURIComponent(PATH)}`);
  // Hosts that autoscaling starts at this moment have read nothing yet.
  const isRead = async () => (await readers()).stale === 0;
  await world.until('every host has what is committed, or an override', isRead, { withinMs: 2 * MINUTE });
  const { overridden } = await readers();
  const isLeft = deploys.some(({ outcome }) => LEAVES.includes(outcome));
  if (!isLeft) expect({ overridden, overrides: overridesOf(world) }).toEqual({ overridden: 0, overrides: [] });
  expectCommitted(world, deploys);
}

function overridesOf({ simulator }: VirtualWorld): string[] {
  const { paths } = simulator.simulation.state.configerator;
  return paths
    .flatMap(({ overrides }) => overrides.at(-1)?.overrides ?? [])
    .map(({ id, revision }) => `${id}: ${revision}`);
}

/** The branch has the value that the last deploy brought or reverted to, unless another author committed later. */
function expectCommitted({ simulator }: VirtualWorld, deploys: readonly Deploy[]): void {
  const branch = simulator.simulation.state.configerator.branches.get(REPOSITORY);
  const last = branch?.commits.findLast(({ values }) => values.some(({ path }) => path.startsWith('feed/')));
  const ended = [...deploys].sort((a, b) => Date.parse(a.endedAt ?? '') - Date.parse(b.endedAt ?? '')).at(-1);
  if (last === undefined || last.change === null || ended === undefined) return;
  const commits = branch?.commits ?? [];
  const valueAfter = (nth: number) =>
    commits
      .slice(0, nth + 1)
      .flatMap(({ values }) => values.filter(({ path }) => path === PATH))
      .at(-1)?.value;
  /** A version is a change, or `@` and a commit, which a rollback may bring back. */
  const valueOf = (version: string): string | null | undefined => {
    const change = branch?.changes.find((one) => one.version === version);
    return change ? change.values[PATH] : valueAfter(commits.findIndex(({ commit }) => version === `@${commit}`));
  };
  const present = valueAfter(commits.length);
  if (ended.outcome === 'succeeded') expect(present).toBe(valueOf(ended.version));
  if (ended.outcome !== 'reverted') return;
  const isOwn = deploys.some(({ outcome, version }) => outcome === 'succeeded' && version === ended.version);
  const back = ended.revert?.units.some(({ toVersion }) => toVersion === ended.version);
  if (!isOwn && !back) expect(present).not.toBe(valueOf(ended.version));
}
