import { join } from 'node:path';
import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import { installRoot } from '../../platform/registry';
import type { Io } from '../io';
import { actorOf } from '../door';
import { printNoteLines, type Output } from '../output';
import { requirePipelineFile } from '../pipelineFile';
import { takeSnapshot, watchUntilEnd } from '../watch';
import { createJobs, describeVersion, listJobs, type ListedJob } from '../simulator';
import { KVSTORE_JOBS } from './world';

/** What `demo -o json` prints. */
export interface DemoResult {
  readonly releases: readonly ReleaseStatus[];
  readonly deploys: readonly DeployStatus[];
  readonly jobs: readonly ListedJob[];
}

export interface Stage {
  readonly io: Io;
  readonly output: Output;
  readonly client: ConveyorClient;
  readonly simulator: string;
  readonly stop: AbortSignal;
}

const DEMO_PIPELINE = join(installRoot(), 'examples', 'kvstore', 'pipeline.yaml');

const GOOD = '12';
const BAD = '13';
const BAD_ERROR_RATIO = 0.2;
/** Far more than a release of the demo takes. */
const STORY_TIMEOUT_MS = 180_000;

/** Ships a good version, then one whose error ratio rises. Undefined when it was interrupted. */
export async function runStory(stage: Stage): Promise<DemoResult | undefined> {
  const { io, client, simulator } = stage;
  await createJobs(simulator, KVSTORE_JOBS);
  const { spec } = await requirePipelineFile(DEMO_PIPELINE, io.now());
  const actor = actorOf(io);
  const owners = spec.owners.includes(actor) ? spec.owners : [...spec.owners, actor];
  await client.apply({ ...spec, owners }, actor);
  chapter(io, `1  A good version: source ${GOOD} is built as kv:${GOOD} and deployed to twelve tasks in two regions`);
  const good = await ship(stage, spec.pipeline, GOOD, actor);
  if (good === undefined) return undefined;
  await describeVersion(simulator, `kv:${BAD}`, { errorRatio: BAD_ERROR_RATIO });
  chapter(
    io,
    `2  A bad version: one request in ${1 / BAD_ERROR_RATIO} that kv:${BAD} answers is an error. Nobody touches anything`,
  );
  const bad = await ship(stage, spec.pipeline, BAD, actor);
  if (bad === undefined) return undefined;
  const releases = [good, bad];
  return {
    releases: releases.map(({ release }) => release),
    deploys: releases.flatMap(({ deploys }) => deploys),
    jobs: await listJobs(simulator),
  };
}

/** The first thing that is not as the demo promises; null when all is well. */
export function firstSurprise({ releases, deploys, jobs }: DemoResult): string | null {
  const [good, bad] = releases;
  const badDeploy = deploys.find((deploy) => deploy.version === `kv:${BAD}`);
  if (good?.state !== 'succeeded') return `${good?.id} should have succeeded, but it is ${good?.state}`;
  if (badDeploy?.outcome !== 'reverted')
    return `${bad?.id} should have been reverted, but its deploy is ${badDeploy?.outcome ?? badDeploy?.state}`;
  if (!badDeploy.health.some((row) => row.verdict === 'unhealthy'))
    return `no check of ${badDeploy.id} says that it is unhealthy`;
  const left = jobs.filter((job) =>
    Object.keys(job.versions).some((version) => version !== `kv:${GOOD}` && job.versions[version] !== 0),
  );
  return left.length === 0 ? null : `${left.map((job) => job.name).join(', ')} should run kv:${GOOD} only`;
}

function chapter(io: Io, text: string): void {
  printNoteLines(io, `\n${text}\n`);
}

/** Releases a source and watches it live. */
async function ship(
  { io, output, client, stop }: Stage,
  pipeline: string,
  source: string,
  actor: string,
): Promise<{ release: ReleaseStatus; deploys: readonly DeployStatus[] } | undefined> {
  const artifact = { name: 'source', kind: 'source', version: source, metadata: {} };
  const { id } = await client.release(pipeline, [artifact], { kind: 'manual', actor, key: `demo-${source}` });
  // With -o json the pictures go where progress goes, and stdout holds nothing but the result.
  const live = output.human ? io : { ...io, stdout: io.stderr };
  const shown: Output = { ...output, format: 'table', human: true };
  const code = await watchUntilEnd(live, client, id, {
    output: shown,
    timeoutMs: STORY_TIMEOUT_MS,
    everyMs: 300,
    detachedText: '',
  });
  if (stop.aborted || code === 130) return undefined;
  const seen = await takeSnapshot(client, id, null);
  if (seen.release === null) throw conveyorError('unknown-release', { id });
  return { release: seen.release, deploys: seen.deploys };
}
