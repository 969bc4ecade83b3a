import { join } from 'node:path';
import { installRoot } from '../../settings/registry';
import { createJobs, describeVersion, listJobs } from '../simulator';
import { applyFor, chapter, ship, type Demo, type Stage } from './demo';
import { renderServiceDemo, type ServiceDemoResult } from './summary';
import { KVSTORE_JOBS } from './world';

const PIPELINE = join(installRoot(), 'examples', 'kvstore', 'pipeline.yaml');

const GOOD = '12';
const BAD = '13';
const BAD_ERROR_RATIO = 0.2;

/** A service: a good version, then one whose error ratio rises. */
export const serviceDemo: Demo<ServiceDemoResult> = {
  prepare: () => Promise.resolve({}),
  play: playService,
  surprise: serviceSurprise,
  render: renderServiceDemo,
  next: ({ deploys }) => [
    `status ${deploys.at(-1)?.id ?? ''}`,
    'history kvstore',
    'release kvstore --artifact source=14 --wait',
  ],
};

async function playService(stage: Stage): Promise<ServiceDemoResult | undefined> {
  const { io, stack } = stage;
  const { simulator } = stack.addresses;
  await createJobs(simulator, KVSTORE_JOBS);
  const pipeline = await applyFor(stage, PIPELINE);
  chapter(io, `1  A good version: source ${GOOD} is built as kv:${GOOD} and deployed to twelve tasks in two regions`);
  const good = await ship(stage, pipeline, source(GOOD));
  if (good === undefined) return undefined;
  await describeVersion(simulator, `kv:${BAD}`, { errorRatio: BAD_ERROR_RATIO });
  chapter(
    io,
    `2  A bad version: one request in ${1 / BAD_ERROR_RATIO} that kv:${BAD} answers is an error. Nothing is done by hand`,
  );
  const bad = await ship(stage, pipeline, source(BAD));
  if (bad === undefined) return undefined;
  const releases = [good, bad];
  return {
    releases: releases.map(({ release }) => release),
    deploys: releases.flatMap(({ deploys }) => deploys),
    jobs: await listJobs(simulator),
  };
}

const source = (version: string) => ({ name: 'source', kind: 'source', version, metadata: {} });

function serviceSurprise({ releases, deploys, jobs }: ServiceDemoResult): string | null {
  const [good, bad] = releases;
  const badDeploy = deploys.find((deploy) => deploy.version === `kv:${BAD}`);
  if (good?.state !== 'succeeded') return `${good?.id} should have succeeded, but it is ${good?.state}`;
  if (badDeploy?.outcome !== 'reverted')
    return `${bad?.id} should have been reverted, but its deploy is ${badDeploy?.outcome ?? badDeploy?.state}`;
  if (!badDeploy.health.some((row) => row.verdict === 'unhealthy')) return `no check of ${badDeploy.id} is unhealthy`;
  const left = jobs.filter((job) =>
    Object.keys(job.versions).some((version) => version !== `kv:${GOOD}` && job.versions[version] !== 0),
  );
  return left.length === 0 ? null : `${left.map((job) => job.name).join(', ')} should run kv:${GOOD} only`;
}
