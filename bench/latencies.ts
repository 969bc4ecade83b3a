import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema, type PipelineSource } from '../domain/spec/pipeline';
import { configOf, median, medianAndSpan } from './actions';
import { Door, type Passed } from './latencies/door';
import { startBareWorker } from './overhead/start';
import { control, deploying, onStack, OWNER, release, releaseEnded, spoil, type Bench } from './services';
import { each, print, run } from './stack';

/**
 * `npx jiti bench/latencies.ts [units,units…] [rounds]`: how long the push type waits for Conveyor, for fleets of several sizes. It measures the time
 * from the command that starts a release until its last `executeUpdates`; and the time from a bad answer about health, and from a person's revert,
 * until the first `executeUpdates` of the revert. A door in front of the push type takes the times. After each round, a workflow of Temporal alone
 * makes the same calls for another service.
 */
const SIZES = (process.argv[2] ?? '10,500,5000').split(',').map(Number);
const ROUNDS = Number(process.argv[3] ?? 5);

type Times = Record<'sent' | 'bareSent' | 'verdict' | 'bareVerdict' | 'person', number[]>;

async function main(): Promise<void> {
  const door = await Door.open();
  process.env['CONVEYOR_CONFIG'] = configOf({ name: 'twine', kind: 'push-type', url: door.url });
  await onStack(240, DEFAULT_SETTINGS, async (bench) => {
    door.behind = `${bench.ready.simulator}/push-types/twine`;
    const stop = await startBareWorker(bench.ready.temporal);
    for (const units of SIZES) print(rows(units, await measure(bench, door, units)));
    stop();
  });
}

function rows(units: number, { sent, bareSent, verdict, bareVerdict, person }: Times): (readonly [string, string])[] {
  const of = (ours: number[], bare: number[]) => `${medianAndSpan(ours)}, ${medianAndSpan(bare)}`;
  const ratio = (ours: number[], bare: number[]) => (median(ours) / median(bare)).toFixed(1);
  return [
    [`release command until the last start, ${units} units: ours, Temporal alone`, of(sent, bareSent)],
    ['… ratio of medians', ratio(sent, bareSent)],
    [`bad answer until its revert comes, ${units} units: ours, Temporal alone`, of(verdict, bareVerdict)],
    ['… ratio of medians', ratio(verdict, bareVerdict)],
    [`revert command until its revert comes, ${units} units`, medianAndSpan(person)],
  ];
}

async function measure(bench: Bench, door: Door, units: number): Promise<Times> {
  const [ships, bakes] = [`ships-${units}`, `bakes-${units}`];
  for (const name of [ships, bakes]) {
    await addJobs(bench, name, units);
    await addJobs(bench, bareOf(name), units);
    await bench.client.apply(pipelineSchema.parse(source(name, name === ships ? '0s' : '12h')), OWNER);
  }
  const times: Times = { sent: [], bareSent: [], verdict: [], bareVerdict: [], person: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const sent = await untilSent(bench, door, ships, round + 1);
    const verdict = await untilReverted(bench, door, bakes, 2 * round + 1);
    const person = await untilRevertedByPerson(bench, door, bakes, 2 * round + 2);
    // The first round fills caches.
    if (round === 0) continue;
    times.sent.push(sent.ours);
    times.bareSent.push(sent.bare);
    times.verdict.push(verdict.ours);
    times.bareVerdict.push(verdict.bare);
    times.person.push(person);
  }
  return times;
}

const bareOf = (name: string): string => `bare-${name}`;

/** One task for each job. */
async function addJobs({ ready }: Bench, service: string, units: number): Promise<void> {
  const job = { service, region: 'x', tasks: 1, version: `${service}:0`, nSmall: 1, budget: 1 };
  const names = Array.from({ length: units }, (_, nth) => `${service}-${nth}`);
  await each(names, 8, (name) => control(ready, '/control/jobs', { ...job, name }));
}

/** One phase, which bakes for this long. */
const source = (name: string, bake: string): PipelineSource =>
  deploying(name, { config: { service: name }, phases: [], completion: { bake }, healthInterval: '1s' });

/** The calls of one deploy. */
const callsOf = ({ passed }: Door, name: string, nth: number): Passed[] =>
  passed.filter(({ body }) => body.includes(`deploy/${name}/${nth}/`));

const isRevert = ({ method, body }: Passed): boolean => method === 'executeUpdates' && /\/revert\/\d+"/.test(body);

async function untilSent(bench: Bench, door: Door, name: string, nth: number) {
  const askedAt = performance.now();
  await release(bench, name, nth);
  await releaseEnded(bench.temporal, workflowIds.release(name, nth));
  const calls = callsOf(door, name, nth);
  const before = calls.slice(0, calls.findLastIndex(({ method }) => method === 'executeUpdates') + 1);
  const bareAt = performance.now();
  const repeated = await repeat(bench, door, before, name, nth);
  return { ours: lastSent(before) - askedAt, bare: lastSent(repeated) - bareAt };
}

async function untilReverted(bench: Bench, door: Door, name: string, nth: number) {
  await release(bench, name, nth);
  await isBaking(bench, name, nth);
  await spoil(bench, `${name}:${nth}`);
  await releaseEnded(bench.temporal, workflowIds.release(name, nth));
  const calls = callsOf(door, name, nth);
  const first = calls.findIndex(isRevert);
  const answers = calls.slice(0, first).filter(({ method }) => method === 'runHealthChecks');
  // The pages of one look.
  const began = answers.at(-1)?.cameAt ?? NaN;
  const look = answers.filter(({ answeredAt }) => answeredAt > began);
  const repeated = await repeat(bench, door, [...look, ...calls.filter(isRevert).slice(0, 1)], name, nth);
  return { ours: cameAt(calls[first]) - latest(look), bare: cameAt(repeated.at(-1)) - latest(repeated.slice(0, -1)) };
}

async function untilRevertedByPerson(bench: Bench, door: Door, name: string, nth: number): Promise<number> {
  await release(bench, name, nth);
  await isBaking(bench, name, nth);
  const askedAt = performance.now();
  await bench.client.command(`${name}/${nth}/deploy`, 'revert', { actor: OWNER, reason: 'a benchmark' });
  await releaseEnded(bench.temporal, workflowIds.release(name, nth));
  return cameAt(callsOf(door, name, nth).find(isRevert)) - askedAt;
}

async function isBaking({ temporal }: Bench, name: string, nth: number): Promise<void> {
  const deploy = temporal.workflow.getHandle(workflowIds.deploy(name, nth, 'deploy', 1));
  const stage = () => deploy.query<{ state: string }>('status').then(({ state }) => state, String);
  while ((await stage()) !== 'baking') await delay(100);
}

/** @returns the same calls, made by Temporal alone */
async function repeat({ temporal }: Bench, door: Door, calls: readonly Passed[], name: string, nth: number) {
  const urls = door.repeats(calls, name, bareOf(name));
  const from = door.passed.length;
  await temporal.workflow.execute('bareCalls', {
    workflowId: `${bareOf(name)}/${nth}`,
    taskQueue: 'bare',
    args: [urls],
  });
  return door.passed.slice(from).filter(({ body }) => body.includes(bareOf(name)));
}

/** Pages are sent concurrently. */
const lastSent = (calls: readonly Passed[]): number =>
  Math.max(...calls.filter(({ method }) => method === 'executeUpdates').map(cameAt));

const cameAt = (call: Passed | undefined): number => call?.cameAt ?? NaN;
const latest = (calls: readonly Passed[]): number => Math.max(...calls.map(({ answeredAt }) => answeredAt));

run(main);
