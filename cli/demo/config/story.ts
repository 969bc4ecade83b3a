import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compile } from '../../../configerator/compiler/compile';
import { installRoot } from '../../../settings/registry';
import type { Io } from '../../io';
import { printNoteLines } from '../../output';
import { freeConfigStack, makeRepository } from '../../stack/configuration';
import type { StackSettings } from '../../stack/stack';
import { applyFor, chapter, ship, type Demo, type DemoPreparation, type Stage } from '../demo';
import { openReal } from './real';
import { openSimulated } from './simulated';
import { demoSources } from './sources';
import { renderConfigDemo, type ConfigDemoResult } from './summary';
import { HOSTS_EACH, MOST, PATH, REGIONS, type ConfigWorld, type Limits } from './world';

const PIPELINE = join(installRoot(), 'examples', 'config', 'pipeline.yaml');
const HOSTS = REGIONS.length * HOSTS_EACH;

const WRONG: Limits = { soft: 500, hard: 100 };
const GOOD: Limits = { soft: 50, hard: 100 };
const BAD: Limits = { soft: 50, hard: 5_000 };

/** A configuration: a mistake that a rule catches, a good value, and a bad one that only its users can detect. */
export const configDemo: Demo<ConfigDemoResult> = {
  prepare: prepareStore,
  play: playConfig,
  surprise: configSurprise,
  render: renderConfigDemo,
  next: ({ deploys }) => [`status ${deploys.at(-1)?.id ?? ''}`, 'history feed-limits', 'config log'],
};

/**
 * Real etcd if it is already installed; nothing is fetched for a demo. Otherwise the simulator acts as the
 * configuration service.
 */
async function prepareStore(io: Io, { addresses, logFolder }: StackSettings): Promise<DemoPreparation> {
  const found = spawnSync(join(installRoot(), 'scripts', 'etcd.sh'), ['--print-path'], { env: { ...io.env } });
  if (found.status !== 0) return { env: { CONVEYOR_CONFIG_SERVICE_URL: addresses.simulator } };
  const config = await freeConfigStack(io.env, join(logFolder, 'config'));
  await makeRepository(config, io.env);
  return { config };
}

async function playConfig(stage: Stage): Promise<ConfigDemoResult | undefined> {
  const { io, stack, stop } = stage;
  const world = stack.config ? await openReal(stage, stack.config) : await openSimulated(stage);
  printNoteLines(io, `The configuration is in ${world.store}`);
  chapter(
    io,
    `1  A mistake: a soft limit of ${WRONG.soft} above a hard one of ${WRONG.hard}. It cannot even be proposed`,
  );
  const { problems } = await compile(demoSources(WRONG));
  const refused = problems[0]?.message ?? '';
  printNoteLines(io, `  ✖ ${refused}`);
  const pipeline = await applyFor(stage, PIPELINE);
  if (!(await until(async () => (await world.counts()).total === HOSTS, stop))) return undefined;
  chapter(io, `2  A good limit: two of ${HOSTS} hosts get it before it is committed, then it lands for all`);
  const good = await release(stage, world, pipeline, GOOD);
  if (good === undefined) return undefined;
  chapter(
    io,
    `3  A hard limit of ${BAD.hard}, which passes every rule; but no server can do more than ${MOST}. Nothing is done by hand`,
  );
  const bad = await release(stage, world, pipeline, BAD);
  if (bad === undefined) return undefined;
  await until(async () => (await world.counts()).committed === HOSTS, stop);
  return {
    ...{ store: world.store, refused, hosts: await world.counts() },
    releases: [good.release, bad.release],
    deploys: [...good.deploys, ...bad.deploys],
  };
}

const release = async (stage: Stage, world: ConfigWorld, pipeline: string, limits: Limits) =>
  ship(stage, pipeline, { name: 'limits', kind: 'config', version: await world.propose(limits), metadata: {} });

const HOSTS_WAIT_MS = 30_000;

/** False if the condition was not met in time, or `stop` was aborted. */
async function until(isSo: () => Promise<boolean>, stop: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + HOSTS_WAIT_MS;
  while (!stop.aborted && Date.now() < deadline) {
    if (await isSo()) return true;
    await delay(100);
  }
  return false;
}

function configSurprise({ releases, deploys, hosts, refused }: ConfigDemoResult): string | null {
  const [good, bad] = releases;
  const last = deploys.at(-1);
  if (!/soft 500 is above hard 100/.test(refused)) return `the rule of ${PATH} should have refused the first limits`;
  if (good?.state !== 'succeeded') return `${good?.id} should have succeeded, but it is ${good?.state}`;
  if (last?.outcome !== 'reverted')
    return `${bad?.id} should have been reverted, but its deploy is ${last?.outcome ?? last?.state}`;
  const { total, committed, overridden } = hosts;
  return committed === HOSTS && overridden === 0
    ? null
    : `all ${HOSTS} hosts should have the good limit, but ${committed} of ${total} have it, and ${overridden} another`;
}
