import { conveyorError } from '../../domain/errors';
import { buildFlagdDefinition, type FlagdDefinition } from '../../configerator/domain/gatekeeper/flagd';
import { parseProject } from '../../configerator/domain/gatekeeper/parse';
import type { ProjectProblem, Project } from '../../configerator/domain/gatekeeper/project';

/**
 * Converts a project to a flag definition of flagd (https://flagd.dev), with one flag of its name: providers of OpenFeature evaluate it to the same
 * answers, for the contexts that `toContext` makes.
 *
 * @throws ConveyorError `gate-invalid` if the value is not a project, or has a restraint `laser`, which flagd cannot express
 */
export function toFlagd(name: string, value: unknown): FlagdDefinition {
  const flagd = buildFlagdDefinition(name, requireProject(name, value));
  return 'definition' in flagd ? flagd.definition : refuse(name, flagd.problems);
}

/** @throws ConveyorError `gate-invalid` */
function requireProject(name: string, value: unknown): Project {
  const parsed = parseProject(value);
  return 'project' in parsed ? parsed.project : refuse(name, parsed.problems);
}

function refuse(name: string, problems: readonly ProjectProblem[]): never {
  const words = problems.map(({ path, why }) => (path === '' ? why : `${path}: ${why}`));
  throw conveyorError('gate-invalid', { name, problems: words });
}
