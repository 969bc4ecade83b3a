import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema } from '../domain/spec/pipeline';
import { serveActionService } from '../sdk';
import { chainOf, configWith, listenAnywhere, median, medianAndSpan } from './actions';
import { startBareWorker } from './overhead/start';
import { addService, onStack, OWNER, release, releaseEnded, type Bench } from './services';
import { each, print, run } from './stack';

/**
 * `npx jiti bench/overhead.ts [rounds] [releases]`: the cost of a release compared with Temporal alone, on one server:
 * a chain of actions, each with two calls of an action service, against a workflow whose activities make the same two
 * calls; then many of them at once. Rounds of both take turns.
 */
const ROUND_COUNT = Number(process.argv[2] ?? 5);
const RELEASES = Number(process.argv[3] ?? 150);
const CHAIN_ACTIONS = 20;
const BURST_ACTIONS = 4;

async function main(): Promise<void> {
  const service = serveActionService('chain', {
    startRun: ({ runId }) => ({ runId }),
    getRunProgress: () => ({ state: 'succeeded' }),
    cancelRun: () => ({}),
  });
  const url = await listenAnywhere(service);
  process.env['CONVEYOR_CONFIG'] = configWith(url);
  await onStack(60, DEFAULT_SETTINGS, async (bench) => {
    const stop = await startBareWorker(bench.ready.temporal);
    const chain = await chains(bench, url);
    const burst = await bursts(bench, url);
    print([...chain, ...burst, await deployEvents(bench)]);
    stop();
  });
}

const applyChain = ({ client }: Bench, name: string, actions: number) =>
  client.apply(pipelineSchema.parse(chainOf(name, actions)), OWNER);

/** @returns when it was accepted and when it had ended, in ms since the request. */
async function withConveyor({ client, temporal }: Bench, name: string, nth: number) {
  const from = Date.now();
  await client.release(name, [], { kind: 'manual', actor: OWNER, key: null });
  const takenMs = Date.now() - from;
  await releaseEnded(temporal, workflowIds.release(name, nth));
  return { takenMs, endedMs: Date.now() - from };
}

async function withTemporalAlone(
  { temporal }: Bench,
  url: string,
  workflowId: string,
  actions: number,
  ofActivities?: string,
): Promise<number> {
  const from = Date.now();
  const args = [url, actions, ...(ofActivities === undefined ? [] : [ofActivities])];
  await temporal.workflow.execute('bareRelease', { workflowId, taskQueue: 'bare', args });
  return Date.now() - from;
}

/** One release of many actions, one after the other. */
async function chains(bench: Bench, url: string): Promise<(readonly [string, string])[]> {
  await applyChain(bench, 'chain', CHAIN_ACTIONS);
  const [mine, other, apart]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= ROUND_COUNT; round += 1) {
    const { endedMs } = await withConveyor(bench, 'chain', round + 1);
    const bareMs = await withTemporalAlone(bench, url, `chain/${round}`, CHAIN_ACTIONS);
    const apartMs = await withTemporalAlone(bench, url, `apart/${round}`, CHAIN_ACTIONS, 'bare-looks');
    // The first round fills caches.
    if (round === 0) continue;
    mine.push(endedMs / CHAIN_ACTIONS);
    other.push(bareMs / CHAIN_ACTIONS);
    apart.push(apartMs / CHAIN_ACTIONS);
  }
  const events = await eventsOf(bench, workflowIds.release('chain', 2));
  const pipeline = (await eventsOf(bench, workflowIds.pipeline('chain'))) / (ROUND_COUNT + 1);
  return [
    [
      'an action after another, ours and Temporal alone (min to max)',
      `${medianAndSpan(mine)}, ${medianAndSpan(other)}`,
    ],
    ['ratio of medians', (median(mine) / median(other)).toFixed(2)],
    ['Temporal alone with slots of their own for actions, as ours have', medianAndSpan(apart)],
    ['ratio to that', (median(mine) / median(apart)).toFixed(2)],
    [
      `events of a release of ${CHAIN_ACTIONS} actions, ours and Temporal alone`,
      `${events}, ${await eventsOf(bench, 'chain/1')}`,
    ],
    ['events of the pipeline for a release', pipeline.toFixed(1)],
  ];
}

/** Releases of many pipelines at once. */
async function bursts(bench: Bench, url: string): Promise<(readonly [string, string])[]> {
  const names = Array.from({ length: RELEASES }, (_, nth) => `burst-${nth}`);
  await each(names, 20, (name) => applyChain(bench, name, BURST_ACTIONS));
  const [mine, other, taken]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < Math.ceil(ROUND_COUNT / 2); round += 1) {
    const from = Date.now();
    const ended = await Promise.all(names.map((name) => withConveyor(bench, name, round + 1)));
    mine.push((RELEASES * BURST_ACTIONS * 1000) / (Date.now() - from));
    taken.push(...ended.map(({ takenMs }) => takenMs));
    const bareFrom = Date.now();
    await Promise.all(names.map((name) => withTemporalAlone(bench, url, `${name}/${round}`, BURST_ACTIONS)));
    other.push((RELEASES * BURST_ACTIONS * 1000) / (Date.now() - bareFrom));
  }
  const rate = (values: readonly number[]): string => `${median(values).toFixed(1)}/s`;
  return [
    [
      `${RELEASES} releases of ${BURST_ACTIONS} actions at once, ours and Temporal alone`,
      `${rate(mine)}, ${rate(other)} actions`,
    ],
    ['ratio of actions a second', (median(mine) / median(other)).toFixed(2)],
    ['until all of them were taken, by release', `${(Math.max(...taken) / RELEASES).toFixed(1)} ms`],
  ];
}

/** The events of a deploy that succeeds in its first phase and its completion. */
async function deployEvents(bench: Bench): Promise<readonly [string, string]> {
  await addService(bench, 'store', { first: '8s', completion: '8s' });
  await release(bench, 'store', 1);
  const id = workflowIds.deploy('store', 1, 'deploy', 1);
  await releaseEnded(bench.temporal, workflowIds.release('store', 1));
  return ['events of a deploy of two phases, bakes of 8 s', String(await eventsOf(bench, id))];
}

const eventsOf = async ({ temporal }: Bench, id: string): Promise<number> =>
  (await temporal.workflow.getHandle(id).describe()).historyLength;

run(main);
