import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { describePlace } from '../push-types/slowroll/server/countHosts';
import { HostLog } from '../push-types/slowroll/server/hostLog';
import { HostTokens } from '../push-types/slowroll/server/hostTokens';
import { addManifestRoutes } from '../push-types/slowroll/server/manifestServer';
import { PackageStore } from '../push-types/slowroll/server/packageStore';
import { createSigner } from '../push-types/slowroll/server/signManifest';
import { SlowrollFleet } from '../push-types/slowroll/server/slowrollFleet';
import { settleUpdates, trackDecision } from '../push-types/slowroll/server/trackDecision';
import { acceptSlowUpdate, findUnitPlace } from '../push-types/slowroll/server/acceptDecision';
import { Memory } from '../sdk/updates';

/**
 * `npx jiti bench/slowroll.ts [hosts] [polls]`: the manifest server of a fleet of hosts that poll, in one process and without sockets: memory a host, the time of a
 * restart, the passes of a deploy over all hosts, and polls a second that are answered by 304 and by 200.
 */

const [FLEET_HOSTS = 1_000_000, POLLS = 20_000] = process.argv.slice(2).map(Number);
const BENCH_REGIONS = ['eu', 'us', 'ap'];
const NO_DIGEST = `sha256:${'0'.repeat(64)}`;
const folder = mkdtempSync(join(tmpdir(), 'conveyor-slowroll-'));
const nameHost = (nth: number): string => `host-${String(nth).padStart(7, '0')}`;
const nameToken = (nth: number): string => createHash('sha256').update(nameHost(nth)).digest('hex').slice(0, 48);

function openFleet(): SlowrollFleet {
  const memory = new Memory(join(folder, 'state.json'));
  const fleet = new SlowrollFleet({
    ...{
      memory,
      now: Date.now,
      elapsed: () => performance.now(),
      silenceMs: 7_200_000,
      regionLabel: 'region',
      mostHosts: 2_000_000,
    },
    ...{ regions: BENCH_REGIONS, packages: [{ name: 'agentd', hosts: {} }] },
  });
  const known = { uri: 'v1/packages/agentd/0', digest: NO_DIGEST, size: 1 };
  fleet.state.packages ??= { agentd: { '1': known, '2': known } };
  return fleet;
}

const units = BENCH_REGIONS.map((region) => `agentd/${region}`);

function decidePhase(fleet: SlowrollFleet, phase: number, version: string, percent: number): void {
  const amount = percent === 100 ? { all: true as const } : { percent };
  const context = { pipeline: 'bench', release: 1, deployId: 'd', actor: 'user:a', config: { units } };
  const targets = units.map((unit) => ({ unit, version, artifacts: [], amount }));
  const request = { updateId: `deploy/bench/1/deploy/1/${phase}/1`, targets, wholeUnit: percent === 100 };
  acceptSlowUpdate(
    fleet,
    { ...request, urgency: 'normal' },
    { context, held: { service: 'agentd', fence: undefined }, isSticky: () => false, hasVersion: () => true },
  );
  fleet.memory.save();
}

async function timeWork<T>(title: string, work: () => T | Promise<T>): Promise<T> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const ms = (text: number): string => text.toFixed(text < 100 ? 1 : 0);
  printFigure(title, `${ms(performance.now() - start)} ms, ${ms((user + system) / 1000)} ms of processor`);
  return result;
}

const printFigure = (title: string, text: string): void => void process.stdout.write(`${title.padEnd(66)}${text}\n`);

const readHeap = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

async function measurePolls(title: string, app: Hono, first: number, tags: Map<number, string>): Promise<void> {
  let statuses = new Map<number, number>();
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let nth = 0; nth < POLLS; nth += 1) {
    const host = (first + nth) % FLEET_HOSTS;
    const tag = tags.get(host);
    const headers = { authorization: `Bearer ${nameToken(host)}`, ...(tag && { 'if-none-match': tag }) };
    const answer = await app.request(`/v1/hosts/${nameHost(host)}/manifest`, { headers });
    tags.set(host, answer.headers.get('etag') ?? '');
    if (answer.status === 200) await answer.arrayBuffer();
    statuses = statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const rate = (POLLS / seconds).toFixed(0);
  const ofCpu = (POLLS / ((user + system) / 1e6)).toFixed(0);
  printFigure(title, `${rate}/s, ${ofCpu} for a second of processor (${JSON.stringify([...statuses])})`);
}

async function openApp(fleet: SlowrollFleet, tokens: HostTokens, log: HostLog): Promise<Hono> {
  const app = new Hono();
  const store = new PackageStore({ packages: [], timeoutMs: 1000, known: fleet.state.packages ?? {} });
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey);
  const settings = { commands: () => undefined, pollAfterSeconds: 1800, settingsTag: 'bench' };
  addManifestRoutes(app, fleet, { ...{ store, log, signer, tokens: () => tokens }, ...settings });
  return app;
}

async function readTokens(): Promise<HostTokens> {
  const lines = Array.from({ length: FLEET_HOSTS }, (_, nth) => `${nameHost(nth)} ${nameToken(nth)}`).join('\n');
  return timeWork(`${FLEET_HOSTS} tokens are read`, () => HostTokens.parse(lines, 'tokens'));
}

async function measureSlowroll(): Promise<void> {
  printFigure(
    'the load of this machine before',
    loadavg()
      .map((one) => one.toFixed(1))
      .join(' '),
  );
  const before = readHeap();
  const tokens = await readTokens();
  const hostLines = Array.from(
    { length: FLEET_HOSTS },
    (_, nth) => `${nameHost(nth)}\t{"region":"${BENCH_REGIONS[nth % 3]}"}\n`,
  );
  writeFileSync(join(folder, 'hosts.log'), hostLines.join(''), { mode: 0o600 });
  hostLines.length = 0;
  let fleet = openFleet();
  decidePhase(fleet, 0, '1', 100);
  fleet = openFleet();
  const log = await timeWork('a restart reads the hosts and decisions', () =>
    HostLog.open(join(folder, 'hosts.log'), fleet.hosts),
  );
  printFigure(
    'memory of the arrays of hosts and one package',
    `${(fleet.hosts.bytes / FLEET_HOSTS).toFixed(1)} bytes a host`,
  );
  printFigure('memory of the tokens', `${(tokens.bytes / FLEET_HOSTS).toFixed(1)} bytes a host`);
  printFigure('memory of all of it, by the heap', `${((readHeap() - before) / FLEET_HOSTS).toFixed(1)} bytes a host`);
  for (let host = 0; host < FLEET_HOSTS; host += 1) {
    fleet.noteCall(nameHost(host), undefined);
    fleet.offer(host);
    fleet.report(host, [{ name: 'agentd', version: '1', identifier: `${host}`, state: 'installed' }], true);
  }
  await timeWork('an update is accepted in three units', () => decidePhase(fleet, 1, '2', 10));
  const place = findUnitPlace(fleet, 'agentd/eu');
  await timeWork('a unit is described', () => describePlace(fleet, place));
  await timeWork('updates are looked through for their end', () => settleUpdates(fleet, () => 0.01));
  const decision = fleet.state.decisions?.['agentd/eu']?.at(-1);
  if (decision) await timeWork('a unit of an update is tracked', () => trackDecision(fleet, place, decision));
  const app = await openApp(fleet, tokens, log);
  const tags = new Map<number, string>();
  await measurePolls('polls without a tag: 200, signed', app, 0, tags);
  await measurePolls('the same hosts again: 304', app, 0, tags);
  printFigure(
    'the load of this machine after',
    loadavg()
      .map((one) => one.toFixed(1))
      .join(' '),
  );
  await log.close();
}

measureSlowroll()
  .finally(() => rmSync(folder, { recursive: true, force: true }))
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
