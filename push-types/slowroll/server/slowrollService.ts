import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Hono } from 'hono';
import { judgeTargets, prometheusQuery, remoteJudge, type Query } from '../../../sdk';
import { Memory } from '../../../sdk/updates';
import { explainError } from '../../explainError';
import { guardReads } from '../../guardReads';
import { CohortLog } from './cohortLog';
import { hashWords } from './hashPlace';
import { HostLog } from './hostLog';
import { addManifestRoutes } from './manifestServer';
import { PackageStore } from './packageStore';
import { readSigner } from './signManifest';
import { SlowrollFleet } from './slowrollFleet';
import { addSlowrollMetrics } from './slowrollMetrics';
import { slowrollPushType, type SlowrollJudge } from './slowrollPushType';
import { readSlowrollSettings, type SlowrollSettings } from './slowrollSettings';
import { settleUpdates } from './trackDecision';
import { WatchedTokens } from './watchedTokens';

export interface SlowrollServiceOptions {
  /** The file of settings, and the folder of the memory. */
  readonly settings: string;
  readonly home: string;
  readonly prometheus: string | undefined;
  /** The token of Conveyor. */
  readonly token: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

export interface SlowrollService {
  /** The routes that Conveyor and Prometheus call. */
  readonly pushType: Hono;
  /** The routes that hosts call. */
  readonly manifests: Hono;
  readonly fleet: SlowrollFleet;
  readonly keyId: string;
  /** The options of Node's TLS server; undefined for plain HTTP. */
  readonly tls: Readonly<Record<string, unknown>> | undefined;
  /** Ends updates that are done, and reads the tokens again when their file changes. */
  run(signal: AbortSignal): Promise<void>;
}

const SETTLE_EVERY_MS = 2_000;
/** Deploys ask every five seconds. */
const COUNTS_MS = 4_000;
const SAMPLE_MS = 60_000;

/** @throws Error if the settings, the tokens or the key have a mistake */
export async function openSlowrollService(options: SlowrollServiceOptions): Promise<SlowrollService> {
  const { home, token } = options;
  const settings = readSlowrollSettings(options.settings);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const fleet = openSlowrollFleet(settings, home);
  const log = await HostLog.open(join(home, 'hosts.log'), fleet.hosts, { log: options.log });
  const signer = readSigner(settings.signingKey);
  const tokens = new WatchedTokens(settings.tokens, fleet, options.log);
  const packages = Object.entries(settings.packages).map(([name, { from }]) => ({ name, from }));
  const known = (fleet.state.packages ??= {});
  const store = new PackageStore({ packages, timeoutMs: settings.fetchTimeout * 1000, known });
  const cohorts = new CohortLog(fleet);
  const failures = (name: string): number => settings.packages[name]?.failures ?? 0;
  const pushType = slowrollPushType(fleet, {
    ...{ store, failures, judge: createSlowrollJudge(options, cohorts) },
    isSticky: (name) => settings.packages[name]?.sticky ?? false,
    ...(token !== undefined && { token }),
  });
  const manifests = new Hono();
  const counts = { manifests: 0, unchanged: 0, reports: 0, refused: 0 };
  countAnswers(manifests, counts, options.log);
  addManifestRoutes(manifests, fleet, {
    ...{ store, log, signer, tokens: () => tokens.now, pollAfterSeconds: settings.pollAfter },
    commands: (name) => settings.packages[name]?.commands,
    settingsTag: tagSettings(settings),
  });
  guardReads(pushType, token, ['/metrics', '/hosts']);
  addSlowrollMetrics(pushType, fleet, { counts });
  return {
    ...{ pushType, manifests, fleet, keyId: signer.keyId, tls: readTls(settings) },
    run: async (signal) => {
      await keepSettling(fleet, { failures, cohorts, tokens, signal, log: options.log });
      await log.close();
    },
  };
}

function openSlowrollFleet(settings: SlowrollSettings, home: string): SlowrollFleet {
  return new SlowrollFleet({
    ...{
      memory: new Memory(join(home, 'state.json')),
      now: Date.now,
      elapsed: () => performance.now(),
      silenceMs: settings.silence * 1000,
    },
    ...{ regionLabel: settings.regionLabel, regions: settings.regions, mostHosts: settings.mostHosts },
    packages: Object.entries(settings.packages).map(([name, { hosts }]) => ({ name, hosts })),
    countsFor: COUNTS_MS,
  });
}

interface StepOptions {
  readonly failures: (packageName: string) => number;
  readonly cohorts: CohortLog;
  readonly tokens: WatchedTokens;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

async function keepSettling(
  fleet: SlowrollFleet,
  { failures, cohorts, tokens, signal, log }: StepOptions,
): Promise<void> {
  let sampledAt = -SAMPLE_MS;
  while (!signal.aborted) {
    try {
      tokens.refresh();
      settleUpdates(fleet, failures);
      if (performance.now() - sampledAt >= SAMPLE_MS) {
        sampledAt = performance.now();
        cohorts.take();
      }
    } catch (error) {
      log(`a step failed, and is tried again: ${explainError(error)}`);
    }
    await delay(SETTLE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The Health Check Service judges if there is one, else this process does: by Prometheus, and without it by the reports of hosts. */
function createSlowrollJudge({ prometheus, env }: SlowrollServiceOptions, cohorts: CohortLog): SlowrollJudge {
  const { CONVEYOR_HCS_URL: hcs, CONVEYOR_HCS_TOKEN: token } = env;
  if (hcs) return remoteJudge({ url: hcs, source: 'prometheus', ...(token && { token }) });
  const ask = prometheus === undefined ? undefined : prometheusQuery({ url: prometheus });
  const query: Query = (request, asked) =>
    ask === undefined || request.metric.startsWith('slowroll.') || asked.source === 'slowroll'
      ? cohorts.query(request, asked)
      : ask(request, asked);
  return (request) => judgeTargets({ ...request, query });
}

function countAnswers(
  app: Hono,
  counts: { manifests: number; unchanged: number; reports: number; refused: number },
  log: (line: string) => void,
): void {
  app.use('*', async (c, next) => {
    await next();
    const { status } = c.res;
    if (status === 200) counts.manifests += 1;
    else if (status === 304) counts.unchanged += 1;
    else if (status === 204) counts.reports += 1;
    else if (status >= 400) counts.refused += 1;
  });
  app.onError((error, c) => {
    log(`${c.req.method} ${c.req.path}: ${explainError(error)}`);
    return c.json({ error: 'the server failed; ask again' }, 503, { 'retry-after': '60' });
  });
}

/** A word that changes with everything in manifests but decisions. */
function tagSettings({ packages, pollAfter }: SlowrollSettings): string {
  const commands = Object.entries(packages).map(([name, one]) => [name, one.commands ?? null]);
  const [high, low] = hashWords(JSON.stringify([commands, pollAfter]));
  return high.toString(36) + low.toString(36);
}

function readTls({ tls }: SlowrollSettings): Readonly<Record<string, unknown>> | undefined {
  if (tls === undefined) return undefined;
  const hosts =
    tls.hosts === undefined ? {} : { ca: readFileSync(tls.hosts), requestCert: true, rejectUnauthorized: true };
  return { cert: readFileSync(tls.certificate), key: readFileSync(tls.key), minVersion: 'TLSv1.2', ...hosts };
}
