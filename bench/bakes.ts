import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { deployOf, revertSent, spread } from './reverts';
import { addService, cpuMs, onStack, OWNER, release, residentMb, spoil, type Bench } from './services';
import { each, print, run, seconds } from './stack';

/**
 * `npx jiti bench/bakes.ts [deploys] [reverts] [interval]`: deploys that all bake at the same time on the one worker of an ordinary development
 * stack. It measures their cost while nothing happens, and how long a revert among them takes to begin, requested by a person or caused by health.
 */
const DEPLOYS = Number(process.argv[2] ?? 130);
const REVERTS = Number(process.argv[3] ?? 10);
/** Between two looks at the health of a deploy, as in a pipeline file. */
const INTERVAL = process.argv[4] ?? '1m';
const NAMES = Array.from({ length: DEPLOYS }, (_, index) => `store-${index + 1}`);
const IDLE_MS = 120_000;
const PORTION = 200;

async function main(): Promise<void> {
  await onStack(240, DEFAULT_SETTINGS, async (bench) => {
    const startedMs = await allBake(bench);
    const idle = await idleCost(bench);
    const person = await revertedByPerson(bench, NAMES.slice(0, REVERTS));
    const health = await revertedByHealth(bench, NAMES.slice(REVERTS, 2 * REVERTS));
    print([
      ['deploys that bake at once', String(DEPLOYS)],
      ['looked at every', INTERVAL],
      ['until all did', seconds(startedMs)],
      ['worker, share of a core and memory', `${idle.worker}, ${idle.memory}`],
      ['Temporal, share of a core', idle.temporal],
      ['events of a deploy in two minutes', String(idle.events)],
      ['command until the revert is sent: p50, max', spread(person)],
      ['verdict until the revert is sent: p50, max', spread(health)],
    ]);
  });
}

async function allBake(bench: Bench): Promise<number> {
  const from = Date.now();
  const query = `WorkflowType='deploy' AND ConveyorState='baking'`;
  // In portions, so that running deploys are not queued behind new ones.
  for (let begun = 0; begun < DEPLOYS; begun += PORTION) {
    const portion = NAMES.slice(begun, begun + PORTION);
    await each(portion, 20, async (name) => {
      await addService(bench, name, { first: '12h', healthInterval: INTERVAL });
      await release(bench, name, 1);
    });
    while ((await bench.temporal.workflow.count(query)).count < begun + portion.length) await delay(500);
    process.stderr.write(`${begun + portion.length} bake\n`);
  }
  return Date.now() - from;
}

/** By process, over two idle minutes. */
async function idleCost({ ready: { pids }, temporal }: Bench) {
  const last = temporal.workflow.getHandle(deployOf(NAMES.at(-1) ?? ''));
  const [worker = 0, server = 0] = [pids['worker'], pids['temporal']];
  const events = (await last.describe()).historyLength;
  const before = [cpuMs(worker), cpuMs(server)] as const;
  await delay(IDLE_MS);
  const share = (ms: number): string => (ms / IDLE_MS).toFixed(3);
  return {
    worker: share(cpuMs(worker) - before[0]),
    temporal: share(cpuMs(server) - before[1]),
    memory: `${residentMb(worker)} MB`,
    events: (await last.describe()).historyLength - events,
  };
}

async function revertedByPerson({ client, temporal }: Bench, names: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const name of names) {
    const asked = Date.now();
    await client.command(`${name}/1/deploy`, 'revert', { actor: OWNER, reason: 'a benchmark' });
    times.push((await revertSent(temporal, name)).sentAt - asked);
  }
  return times;
}

/** From the end of the look that found it. */
async function revertedByHealth(bench: Bench, names: readonly string[]): Promise<number[]> {
  await each(names, 20, (name) => spoil(bench, `${name}:1`));
  const seen = await each(names, names.length || 1, (name) => revertSent(bench.temporal, name));
  return seen.map(({ sentAt, verdictAt }) => sentAt - verdictAt);
}

run(main);
