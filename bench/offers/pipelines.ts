import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../../domain/ids';
import { isOfferWait } from '../../domain/offers/judge';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { ReleaseStatus } from '../../domain/views';
import { control, cpuMs, deploying, OWNER, release, releaseEnded, type Bench } from '../services';
import { each } from '../stack';

/** Shared by the parts of bench/offers.ts: pipelines of one deploy to two tasks, some of which offer a value or wish for one. */

export type PrintRow = readonly [name: string, value: string];

export const OFFER = 'place';
const REGION = 'x';

type Offers = NonNullable<PipelineSource['offers']>;
type Wishes = NonNullable<PipelineSource['wishes']>;

export const placeOffer = (version = '1.0.0'): Offers[number] => ({
  ...{ name: OFFER, version, value: { region: REGION } },
});

interface Deploys {
  readonly bake: string;
  readonly offers?: Offers;
  readonly wishes?: Wishes;
}

/** Deploys look at their updates every 5 s, so the end of one that takes 10 s would be seen after 10 s or after 15. */
const TIMINGS = { fetchMs: 3_000, stopMs: 1_000, startMs: 4_000 };

/** Adds the job that a pipeline deploys. A deploy updates both tasks at once. */
const addJob = ({ ready }: Bench, name: string): Promise<void> =>
  control(ready, '/control/jobs', {
    ...{ name: `${name}-${REGION}`, service: name, region: REGION, version: `${name}:0` },
    ...{ tasks: 2, nSmall: 2, budget: 2, timings: TIMINGS },
  });

/** Applies a pipeline. If it has wishes, the configuration of its deploy uses the value of the first. */
export async function applyDeploy({ client }: Bench, name: string, { bake, offers, wishes }: Deploys): Promise<void> {
  const from = wishes?.[0]?.from;
  const region = from === undefined ? REGION : `\${wishes.${from}.${OFFER}.region}`;
  const how = { config: { jobs: [`${name}-${region}`] }, phases: [], completion: { bake }, healthInterval: '1s' };
  const more = { ...(offers && { offers }), ...(wishes && { wishes }) };
  await client.apply(pipelineSchema.parse({ ...deploying(name, how), ...more }), OWNER);
}

export async function addDeploy(bench: Bench, name: string, deploys: Deploys): Promise<void> {
  await addJob(bench, name);
  await applyDeploy(bench, name, deploys);
}

/** Starts a release, and resolves at its end. */
export async function releaseToEnd(bench: Bench, name: string, nth = 1): Promise<void> {
  await release(bench, name, nth);
  await releaseEnded(bench.temporal, workflowIds.release(name, nth));
}

/** @throws if a release of one of the pipelines did not succeed: its time would be that of something else */
export async function requireSuccess({ client }: Bench, names: readonly string[]): Promise<void> {
  const histories = await each(names, 8, (name) => client.history(name));
  const others = histories.flat().filter(({ state }) => state !== 'succeeded');
  if (others.length > 0) throw new Error(`${others.length} releases of ${names.join(', ')} did not succeed`);
}

/** Starts the first release of each pipeline, and resolves once the deploys of all of them wait for offers. */
export async function releaseToWait(bench: Bench, names: readonly string[]): Promise<void> {
  await each(names, 20, (name) => release(bench, name, 1));
  await each(names, 20, (name) => untilItWaits(bench, name));
}

async function untilItWaits({ temporal }: Bench, name: string): Promise<void> {
  const handle = temporal.workflow.getHandle(workflowIds.release(name, 1));
  const listReasons = () =>
    handle.query<Pick<ReleaseStatus, 'actions'>>('status').then(
      ({ actions }) => actions.map(({ blockedBy }) => blockedBy ?? ''),
      () => [],
    );
  while (!(await listReasons()).some(isOfferWait)) await delay(200);
}

/** In a part of a run. */
interface Waited {
  readonly events: number;
  /** Looks at offers; those that have not begun yet count as well. */
  readonly looks: number;
}

/** The sums over the first releases of pipelines whose deploys wait. The answers do not come from a worker. */
export async function countWaiting({ temporal }: Bench, names: readonly string[]): Promise<Waited> {
  const counted = await each(names, 20, async (name) => {
    const { historyLength, raw } = await temporal.workflow.getHandle(workflowIds.release(name, 1)).describe();
    const looks = (raw.pendingActivities ?? []).filter(({ activityType }) => activityType?.name === 'offerNews');
    return { events: historyLength, looks: sum(looks.map(({ attempt }) => attempt ?? 0)) };
  });
  return { events: sum(counted.map(({ events }) => events)), looks: sum(counted.map(({ looks }) => looks)) };
}

export const countEvents = async ({ temporal }: Bench, id: string): Promise<number> =>
  (await temporal.workflow.getHandle(id).describe()).historyLength;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Processor time of the worker and of Temporal during some work, and the time that it took. */
export interface Spent {
  readonly wallMs: number;
  readonly workerMs: number;
  readonly temporalMs: number;
}

export async function measureSpent({ ready: { pids } }: Bench, work: () => Promise<unknown>): Promise<Spent> {
  const [from, worker, temporal] = [Date.now(), cpuMs(pids['worker']), cpuMs(pids['temporal'])];
  await work();
  return {
    wallMs: Date.now() - from,
    workerMs: cpuMs(pids['worker']) - worker,
    temporalMs: cpuMs(pids['temporal']) - temporal,
  };
}

export const formatShares = ({ wallMs, workerMs, temporalMs }: Spent): string =>
  `worker ${(workerMs / wallMs).toFixed(3)}, temporal ${(temporalMs / wallMs).toFixed(3)}`;
