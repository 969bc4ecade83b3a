import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pathIndex } from '../simulator/configerator/paths';
import { commitValues } from '../simulator/configerator/repository';
import { addGroup, countReaders } from '../simulator/configerator/subscribers';
import { Simulation } from '../simulator/simulation';

/**
 * `npx jiti bench/configerator.ts [hosts]`: the simulated distribution of configuration with that many subscribers of one path, and with every
 * checker on. It measures their memory, and how long this machine takes until one commit, and ten more, have reached all of them.
 */

const HOSTS = Number(process.argv[2] ?? 100_000);
const REGIONS = 10;
const START = Date.UTC(2026, 0, 5, 12);
const COMMITS = 10;

function main(): void {
  const before = usedBytes();
  const simulation = new Simulation({ seed: 1, speed: 1 });
  simulation.world.advanceTo(START);
  const it = simulation.configerator;
  commitValues(it, 'flags', { 'feed/limits': '0' });
  const of = pathIndex(it.state, 'flags', 'feed/limits');
  for (let nth = 0; nth < REGIONS; nth += 1) {
    const place = { name: `edge-r${nth}`, region: `r${nth}`, labels: { region: `r${nth}` } };
    addGroup(it, { ...place, repository: 'flags', job: null, paths: [of], size: HOSTS / REGIONS }, undefined);
  }
  const given = usedBytes();
  const first = commits(simulation, 1);
  const one = usedBytes();
  const rest = commits(simulation, COMMITS);
  const all = usedBytes();
  const { total, committed } = countReaders(it, of);
  const perHost = (bytes: number): string => `${Math.round((bytes - before) / HOSTS)} bytes`;
  const rows: [string, string][] = [
    ['subscribers, observers', `${total}, ${it.state.observers.length}`],
    ['memory of each', perHost(given)],
    ['… after a commit', perHost(one)],
    [`… after ${COMMITS} more`, `${perHost(all)}, ${Math.round((all - before) / 1e6)} MB together`],
    ['a commit to all, checked', `${first} ms`],
    [`${COMMITS} more`, `${rest} ms`],
    ['have the newest', `${committed}`],
    ['violations', `${simulation.state.violations.length}`],
  ];
  for (const [name, value] of rows) console.log(`${name.padEnd(28)}${value}`);
}

/** Makes this many commits, one per simulated minute; returns the ms that this machine took. */
function commits(simulation: Simulation, count: number): number {
  const began = performance.now();
  for (let nth = 0; nth < count; nth += 1) {
    commitValues(simulation.configerator, 'flags', { 'feed/limits': `${simulation.world.now}` });
    simulation.world.advanceTo(simulation.world.now + 60_000);
  }
  return Math.round(performance.now() - began);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

main();
