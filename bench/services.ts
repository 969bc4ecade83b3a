import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { createClient, type ConveyorClient } from '../client';
import { ConveyorError } from '../domain/errors';
import type { Settings } from '../domain/settings';
import { pipelineSchema, type PipelineSource } from '../domain/spec/pipeline';
import { startStack, type Ready } from './stack';

/** Shared by the benchmarks with many services: each service has a job of three tasks and a pipeline that deploys it. */
export interface Bench {
  readonly ready: Ready;
  readonly temporal: Client;
  readonly client: ConveyorClient;
}

export const OWNER = 'user:bench';

/** Runs work on its own development stack, whose world runs `speed` times as fast as real time, and stops the stack. */
export async function onStack(speed: number, settings: Settings, work: (bench: Bench) => Promise<void>): Promise<void> {
  const { stack, ready } = await startStack(speed);
  try {
    const connection = await Connection.connect({ address: ready.temporal });
    const platform = { groups: {}, settings };
    const client = await createClient({ address: ready.temporal, taskQueue: ready.taskQueue, platform });
    await work({ ready, temporal: new Client({ connection }), client });
    await client.close();
    await connection.close();
  } finally {
    stack.kill('SIGTERM');
  }
}

/** How long its deploys bake and how often they are looked at, as in a pipeline file. */
export interface Bakes {
  readonly first: string;
  readonly completion?: string;
  readonly healthInterval?: string;
}

const source = (pipeline: string, { first, completion, healthInterval }: Bakes): PipelineSource =>
  deploying(pipeline, {
    config: { jobs: [pipeline] },
    phases: [{ name: 'first', scope: '*', amount: 1, bake: first }],
    ...(completion === undefined ? {} : { completion: { bake: completion } }),
    ...(healthInterval === undefined ? {} : { healthInterval }),
  });

/** A pipeline of one deploy to the simulated fleet, judged by its errors. @param how its config, phases and bakes */
export const deploying = (pipeline: string, how: object): PipelineSource => ({
  pipeline,
  owners: [OWNER],
  artifacts: { executable: { finder: 'manual' } },
  releases: { onRevert: 'continue', supersede: 'never' },
  actions: {
    deploy: {
      type: 'deploy',
      inputs: ['executable'],
      with: {
        pushType: 'twine',
        ...how,
        healthChecks: [{ name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.05 } }],
      },
    },
  },
});

/** A service that runs `NAME:0`, and its pipeline. */
export async function addService({ ready, client }: Bench, name: string, bakes: Bakes): Promise<void> {
  const job = { name, service: name, region: 'x', tasks: 3, version: `${name}:0`, nSmall: 3, budget: '50%' };
  await control(ready, '/control/jobs', job);
  await client.apply(pipelineSchema.parse(source(name, bakes)), OWNER);
}

/** Errors of a worker or a server that was killed, or is overloaded. */
const PASSING = new Set(['no-worker', 'temporal-unreachable']);

/** @returns the number of the release, which deploys `NAME:NTH`. */
export async function release({ client }: Bench, name: string, nth: number): Promise<number> {
  const artifact = { name: 'executable', kind: 'executable', version: `${name}:${nth}`, metadata: {} };
  // A busy worker may answer late: the key makes a retry refer to the same release.
  const key = `${name}-${nth}`;
  for (;;) {
    try {
      return (await client.release(name, [artifact], { kind: 'manual', actor: OWNER, key })).number;
    } catch (error) {
      if (!(error instanceof ConveyorError && PASSING.has(error.code))) throw error;
    }
  }
}

/** An accepted release may have no workflow yet. */
export async function releaseEnded(temporal: Client, id: string): Promise<void> {
  for (;;) {
    try {
      return void (await temporal.workflow.getHandle(id).result());
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await delay(10);
    }
  }
}

/** Makes a version answer with errors, from now on and on every task. */
export const spoil = ({ ready }: Bench, version: string): Promise<void> =>
  control(ready, '/control/versions', { version, behaviour: { errorRatio: 0.5 } });

export async function control({ simulator }: Ready, path: string, body: object): Promise<void> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${simulator}${path}`, request);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

export const residentMb = (pid = 0): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

/** User and system time of a Linux process, whose clock ticks a hundred times a second. */
export function cpuMs(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
