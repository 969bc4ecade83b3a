import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { conveyorError } from '../domain/errors';
import type { Unit } from '../domain/fleet/unit';
import { pushTypeProtocol } from '../sdk/protocol/pushType';
import type { JobSpec } from './demo/world';
import { readText } from './pipelineFile';

/**
 * The units of a file, in JSON or YAML: what `fetchDeployUnits` answers, or the jobs of a simulated fleet as `fleet.yaml`
 * lists them. Of jobs those are meant that `config.jobs` of the deploy names.
 * @throws file-unreadable
 */
export function readUnits(file: string, config: Readonly<Record<string, unknown>>): readonly Unit[] {
  const value = parseValue(readText(file), file);
  if (isFleet(value)) return toUnits(value, config);
  const parsed = pushTypeProtocol.fetchDeployUnits.response.safeParse(value);
  if (parsed.success) return parsed.data.units;
  const [issue] = parsed.error.issues;
  const detail = `${issue?.path.join('.') || '(top)'}: ${issue?.message ?? ''}`;
  throw conveyorError('file-unreadable', { file, detail: `not what fetchDeployUnits answers: ${detail}` });
}

/** The `fleet.yaml` that lies beside a pipeline file and has jobs of its deploy, as each example has one. */
export function fleetBeside(pipelineFile: string, config: Readonly<Record<string, unknown>>): string | undefined {
  const file = join(dirname(pipelineFile), 'fleet.yaml');
  if (!existsSync(file)) return undefined;
  const value = parseValue(readText(file), file);
  return isFleet(value) && toUnits(value, config).length > 0 ? file : undefined;
}

type Job = Pick<JobSpec, 'name' | 'region' | 'labels' | 'tasks' | 'version'>;

const isFleet = (value: unknown): value is readonly Job[] => Array.isArray(value) && value.every(isJob);

const isJob = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && 'tasks' in value && typeof value.tasks === 'number';

function toUnits(jobs: readonly Job[], { jobs: names }: Readonly<Record<string, unknown>>): readonly Unit[] {
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

function parseValue(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw conveyorError('file-unreadable', {
      file,
      detail: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error),
    });
  }
}
