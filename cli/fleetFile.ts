import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Unit } from '../domain/fleet/unit';
import { pushTypeProtocol } from '../sdk/protocol/pushType';
import { createShapeError, readData } from './dataFile';
import type { NewJob } from './simulator';

/**
 * The units of a file in JSON or YAML: either an answer to `fetchDeployUnits`, or the jobs of a simulated fleet as in `fleet.yaml`. Only
 * jobs in `config.jobs` of the deploy count.
 * @throws file-unreadable
 */
export function readUnits(file: string, config: Readonly<Record<string, unknown>>): readonly Unit[] {
  const value = readData(file);
  if (isFleet(value)) return toUnits(value, config);
  const parsed = pushTypeProtocol.fetchDeployUnits.response.safeParse(value);
  if (parsed.success) return parsed.data.units;
  throw createShapeError(file, parsed.error, 'not what fetchDeployUnits answers: ');
}

/** The `fleet.yaml` next to a pipeline file with jobs of its deploy, as in each example. */
export function findFleetFile(pipelineFile: string, config: Readonly<Record<string, unknown>>): string | undefined {
  const file = join(dirname(pipelineFile), 'fleet.yaml');
  if (!existsSync(file)) return undefined;
  const value = readData(file);
  return isFleet(value) && toUnits(value, config).length > 0 ? file : undefined;
}

type FileJob = Pick<NewJob, 'name' | 'region' | 'labels' | 'tasks' | 'version'>;

const isFleet = (value: unknown): value is readonly FileJob[] => Array.isArray(value) && value.every(isJob);

const isJob = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && 'tasks' in value && typeof value.tasks === 'number';

function toUnits(jobs: readonly FileJob[], { jobs: names }: Readonly<Record<string, unknown>>): readonly Unit[] {
  const wanted = Array.isArray(names) ? names : [];
  return jobs
    .filter(({ name }) => wanted.includes(name))
    .map(({ name, region, labels, tasks, version }) => ({
      id: name,
      labels: { ...labels, region },
      size: tasks,
      version,
      mixed: false,
      available: true,
    }));
}
