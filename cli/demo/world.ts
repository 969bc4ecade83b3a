import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { installRoot } from '../../settings/registry';
import type { NewJob } from '../simulator';

/** The store of the Conveyor paper §2.3: twelve tasks in two regions. */
export const KVSTORE_JOBS: readonly NewJob[] = ['x', 'y'].map((region) => ({
  name: `kvstore-${region}`,
  service: 'kvstore',
  region,
  tasks: 6,
  version: 'kv:11',
  nSmall: 2,
  budget: 2,
}));

/** The jobs of the other examples, from the `fleet.yaml` next to each pipeline. */
export function exampleJobs(): readonly NewJob[] {
  const folder = join(installRoot(), 'examples');
  const files = readdirSync(folder).map((example) => join(folder, example, 'fleet.yaml'));
  return files.filter((file) => existsSync(file)).flatMap((file) => parse(readFileSync(file, 'utf8')) as NewJob[]);
}
