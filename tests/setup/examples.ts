import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { KVSTORE_JOBS } from '../../cli/demo/world';
import { expandActions } from '../../domain/spec/expand/expand';
import type { PipelineSource } from '../../domain/spec/pipeline';

/** The contents of examples/, found by looking, so no example can be forgotten. */

const FOLDER = join(__dirname, '../../examples');

/** Paths of all pipeline files, as `fdo/pipeline.yaml`. */
export const examplePipelines = (): string[] =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && /^pipeline:/m.test(readFileSync(examplePath(file), 'utf8')))
    .sort();

/** These have production timings, for which only virtual time can wait. */
export const IN_VIRTUAL_TIME = [
  'config/errors/pipeline.yaml',
  'frontend/pipeline.yaml',
  'health/regions.yaml',
  'health/thresholds.yaml',
  'minimal/pipeline.yaml',
  'regions/pipeline.yaml',
  'storage/pipeline.yaml',
];

/**
 * These need more than a development stack, most of them a fleet other than the simulated one;
 * tests/git-commit/example.test.ts, tests/kubernetes/rights.long.test.ts, tests/hosts/example.test.ts, tests/system/bugs.long.test.ts, tests/system/dev.long.test.ts, tests/system/prometheus.long.test.ts,
 * tests/contract/gatekeeper.test.ts, tests/slowroll/service.test.ts and tests/workflows/models.long.test.ts run them.
 */
export const ON_OTHER_FLEETS = [
  'advisory/pipeline.yaml',
  'config/pipeline.yaml',
  'daemon/pipeline.yaml',
  'gitops/pipeline.yaml',
  'hosts/pipeline.yaml',
  'inference/data/feed.yaml',
  'kubernetes/pipeline.yaml',
  'push-types/gatekeeper/pipeline.yaml',
  'push-types/processes/pipeline.yaml',
];

/**
 * These wait for each other. The commands of their README release them (tests/system/readme.long.test.ts), and
 * tests/workflows/teastore.long.test.ts does in any order.
 */
export const TOGETHER = [
  'teastore/auth.yaml',
  'teastore/image.yaml',
  'teastore/persistence.yaml',
  'teastore/recommender.yaml',
  'teastore/registry.yaml',
  'teastore/webui.yaml',
];

export const examplePath = (file: string): string => join(FOLDER, file);

/** The pipeline with each action written out. */
export const exampleSource = (file: string): PipelineSource =>
  expandActions(parse(readFileSync(examplePath(file), 'utf8'), { merge: true })).value as PipelineSource;

export type ExampleJob = Pick<(typeof KVSTORE_JOBS)[number], 'name' | 'service' | 'region' | 'tasks' | 'version'>;

/** The jobs that the example of a file deploys, in the form of the simulated world's control API. */
export function exampleFleet(file: string): readonly ExampleJob[] {
  const [example = ''] = file.split('/');
  const fleet = examplePath(join(example, 'fleet.yaml'));
  return existsSync(fleet) ? (parse(readFileSync(fleet, 'utf8')) as ExampleJob[]) : KVSTORE_JOBS;
}
