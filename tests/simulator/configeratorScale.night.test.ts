import { Simulation } from '../../simulator/simulation';
import { pathIndex } from '../../simulator/configerator/paths';
import { commitValues } from '../../simulator/configerator/repository';
import { addGroup, countReaders } from '../../simulator/configerator/subscribers';
import { START } from '../builders/simulatorFleet';

const HOSTS = 100_000;
const REGIONS = 10;

/** A hundred thousand hosts of ten regions, each with a path. */
function givenHosts() {
  const simulation = new Simulation({ seed: 1, speed: 1 });
  simulation.world.advanceTo(START);
  const it = simulation.configerator;
  commitValues(it, 'flags', { 'feed/limits': '1' });
  const paths = [pathIndex(it.state, 'flags', 'feed/limits')];
  for (let nth = 0; nth < REGIONS; nth += 1) {
    const [name, region] = [`edge-r${nth}`, `r${nth}`];
    const group = { name, region, repository: 'flags', labels: { region }, job: null, paths };
    addGroup(it, { ...group, size: HOSTS / REGIONS }, undefined);
  }
  return { simulation, it, of: paths[0] ?? 0 };
}

const bytesOf = (columns: object): number =>
  Object.values(columns).reduce<number>((sum, it) => sum + (ArrayBuffer.isView(it) ? it.byteLength : 0), 0);

test('a subscriber takes 54 bytes, and four changes of what it has 20 bytes each', () => {
  const { it } = givenHosts();
  expect(bytesOf(it.state.hosts) + bytesOf(it.state.cells)).toBe(54 * HOSTS);
  for (let sequence = 2; sequence <= 9; sequence += 1) {
    commitValues(it, 'flags', { 'feed/limits': String(sequence) });
    (it as { world: { advanceTo?: (at: number) => void } }).world.advanceTo?.(START + sequence * 60_000);
  }
  expect(bytesOf(it.state.past)).toBeLessThanOrEqual(4 * 20 * HOSTS);
  expect(it.state.past.count).toBeGreaterThan(HOSTS);
});

test('a commit reaches 100,000 subscribers over 200 observers within 4.5 s of the store, with every checker on', () => {
  const { simulation, it, of } = givenHosts();
  const counted = () => countReaders(it, of);
  expect(it.state.observers).toHaveLength(200);
  commitValues(it, 'flags', { 'feed/limits': '2' });
  simulation.world.advanceTo(START + 5_000);
  expect(counted()).toEqual({ total: HOSTS, committed: 0, overridden: 0, stale: HOSTS });
  // Each host gets it once, whatever else it takes.
  const events = simulation.world.kernel.seq;
  simulation.world.advanceTo(START + 9_500);
  expect(counted()).toEqual({ total: HOSTS, committed: HOSTS, overridden: 0, stale: 0 });
  expect(simulation.world.kernel.seq - events).toBeLessThan(1.05 * HOSTS);
  simulation.world.advanceTo(START + 60_000);
  expect(simulation.state.violations).toEqual([]);
}, 60_000);
