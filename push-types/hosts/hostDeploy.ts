import { setTimeout as delay } from 'node:timers/promises';
import { explainError } from '../explainError';
import type { Balancer } from './balancer';
import { explainNotServing, isServing, planHost, type DesiredHost, type HostStep } from './hostPlan';
import { HostStepError, locateIncoming, parseFacts, runVerb, type HostFacts, type HostStamp } from './hostScript';
import { UnreachableHostError, type HostPort } from './port';
import type { CheckedPackage } from './packages';

/** The steps of one host. Each may be interrupted at any point and repeated. */

/** The application on one host, with its variables filled in. */
export interface HostApp {
  readonly root: string;
  readonly service: string;
  readonly sudo: boolean;
  readonly keep: number;
  readonly shared: readonly string[];
  readonly health: { readonly url: string; readonly settleMs: number; readonly timeoutMs: number } | null;
  readonly drainMs: number;
}

/** The world of one host. */
export interface HostWorld {
  readonly name: string;
  readonly port: HostPort;
  readonly app: HostApp;
  readonly balancer: Balancer | null;
  /** The package of a version; rejects if there is none. */
  readonly getPackage: (version: string) => Promise<CheckedPackage>;
  /** Empty if no package of the version is known. */
  readonly digest: (version: string) => string;
  /** ms of a clock that nobody sets: times of checks are durations. */
  readonly elapsed: () => number;
  readonly log: (line: string) => void;
  /** Called before each step, and after the last one with `null`: tests interrupt there. */
  readonly onStep?: (step: HostStep | null) => void;
}

const COMMAND_MS = 15_000;
/** systemd gives a service 90 s to stop, and as long to start. */
const RESTART_MS = 200_000;
const UPLOAD_MS = 15 * 60_000;
const CHECK_EVERY_MS = 500;
/** Without a health URL a service is live once it has been active for so long. */
const PLAIN_HEALTH = { url: 'none', settleMs: 3_000, timeoutMs: 30_000 };

/** Asks a host for its state; only a `whole` look has the hosts of its record. @throws UnreachableHostError, HostStepError */
export async function lookAtHost(
  { port, app }: Pick<HostWorld, 'port' | 'app'>,
  extent: 'brief' | 'whole' = 'brief',
): Promise<HostFacts> {
  const url = app.health?.url ?? 'none';
  return parseFacts(await runVerb(port, 'look', [app.root, app.service, url, '3', extent], { timeoutMs: COMMAND_MS }));
}

/** Brings a host to a version by the steps that are left. @returns its state once it serves the version @throws Error with the reason */
export async function deployHost(world: HostWorld, desired: DesiredHost, stamp: HostStamp): Promise<HostFacts> {
  const facts = await lookAtHost(world);
  const hasRelease = await findRelease(world, desired.version);
  let last = facts;
  for (const step of planHost(facts, desired, hasRelease)) {
    world.onStep?.(step);
    try {
      last = (await STEPS[step](world, desired.version, stamp)) ?? last;
    } catch (error) {
      if (step === 'switch' && error instanceof HostStepError) await returnHost(world, facts);
      throw error;
    }
  }
  world.onStep?.(null);
  return last;
}

/** Puts a host back whose link could not be switched: it serves the version of before. */
async function returnHost({ balancer, name, app, log }: HostWorld, before: HostFacts): Promise<void> {
  if (!isServing(before, before.current)) return;
  await balancer?.undrain(name, app.drainMs).catch((error: unknown) => {
    log(`${name} stays out of the load balancer: ${explainError(error)}`);
  });
}

/** Stops the service of a host and takes its release away; the folders of releases stay. */
export async function removeFromHost(world: HostWorld, sequence: number): Promise<void> {
  const { port, app, balancer, name } = world;
  await balancer?.drain(name, app.drainMs);
  await runVerb(port, 'remove', [app.root, String(sequence), privilege(app), app.service], { timeoutMs: RESTART_MS });
}

/** Writes the record of a host anew, without touching its service. */
export async function stampHost({ port, app }: HostWorld, stamp: HostStamp): Promise<void> {
  await runVerb(port, 'stamp', [app.root, String(stamp.sequence)], { timeoutMs: COMMAND_MS, stamp });
}

const STEPS: Readonly<
  Record<HostStep, (world: HostWorld, version: string, stamp: HostStamp) => Promise<HostFacts | void>>
> = {
  record: recordUpdate,
  bring: bringRelease,
  drain: async ({ balancer, name, app }) => balancer?.drain(name, app.drainMs),
  switch: async ({ port, app, name }, version, stamp) => {
    const environment = [`DEPLOYED_HOST=${name}`, `DEPLOYED_UNIT=${stamp.unit}`, `DEPLOYED_VERSION=${version}`].join(
      '|',
    );
    const args = [app.root, String(stamp.sequence), version, environment, app.service];
    await runVerb(port, 'switch', args, { timeoutMs: COMMAND_MS, stamp });
  },
  restart: async ({ port, app }, _, { sequence }) => {
    await runVerb(port, 'restart', [app.root, String(sequence), privilege(app), app.service], {
      timeoutMs: RESTART_MS,
    });
  },
  check: checkHost,
  undrain: async ({ balancer, name, app }) => balancer?.undrain(name, app.drainMs),
  prune: pruneReleases,
};

/** The record is written again in each round until it is right: a disk that is full fails no revert on a host that needs none. */
async function recordUpdate(world: HostWorld, _: string, stamp: HostStamp): Promise<void> {
  try {
    await stampHost(world, stamp);
  } catch (error) {
    if (!(error instanceof HostStepError)) throw error;
    world.log(`${world.name}: its record is not written: ${error.message}`);
  }
}

/** The host serves already: an old release that cannot be deleted, such as one with files of another user, is no reason to take the new one away. */
async function pruneReleases({ port, app, name, log }: HostWorld): Promise<void> {
  const warn = (why: string): void => log(`${name}: old releases stay: ${why}`);
  try {
    const kept = await runVerb(port, 'prune', [app.root, String(app.keep)], { timeoutMs: COMMAND_MS });
    const names = kept.split('\n').flatMap((line) => (line.startsWith('kept=') ? [line.slice('kept='.length)] : []));
    if (names.length > 0) warn(`${names.join(', ')} cannot be deleted`);
  } catch (error) {
    if (error instanceof UnreachableHostError) throw error;
    warn(explainError(error));
  }
}

const privilege = ({ sudo }: HostApp): string => (sudo ? 'sudo' : 'direct');

const findRelease = async ({ port, app, digest }: HostWorld, version: string): Promise<boolean> =>
  (await runVerb(port, 'find', [app.root, version, digest(version)], { timeoutMs: COMMAND_MS })).includes('there=yes');

async function bringRelease({ port, app, getPackage }: HostWorld, version: string): Promise<void> {
  const { file, digest } = await getPackage(version);
  await runVerb(port, 'prepare', [app.root], { timeoutMs: COMMAND_MS });
  await port.upload(file, locateIncoming(app.root), { timeoutMs: UPLOAD_MS });
  await runVerb(port, 'unpack', [app.root, version, digest, ...app.shared], { timeoutMs: UPLOAD_MS });
}

/** Waits until the host has served the version for `settle` without a break. */
async function checkHost(world: HostWorld, version: string): Promise<HostFacts> {
  const { settleMs, timeoutMs } = world.app.health ?? PLAIN_HEALTH;
  const start = world.elapsed();
  let since: number | undefined;
  let invocation = '';
  for (;;) {
    const facts = await lookAtHost(world);
    const now = world.elapsed();
    const isSame = isServing(facts, version) && (since === undefined || facts.invocation === invocation);
    since = isSame ? (since ?? now) : undefined;
    invocation = facts.invocation;
    if (since !== undefined && now - since >= settleMs) return facts;
    if (now - start >= timeoutMs + settleMs) {
      const why = isServing(facts, version) ? 'the service starts again and again' : explainNotServing(facts, version);
      throw new Error(`not live within ${timeoutMs / 1000} s: ${why}`);
    }
    await delay(Math.min(CHECK_EVERY_MS, Math.max(10, settleMs / 2)));
  }
}
