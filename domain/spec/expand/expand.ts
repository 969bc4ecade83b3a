import { errorAt, warningAt, type Finding, type Path } from '../problem';
import { needsExpansion, expandMember, type MadeAction } from './members';
import { Filler, pathKey, type Origins } from './placeholders';
import { resolveNames, findAmbiguousReferences, type MatrixGroups } from './references';
import { readTemplates, type Templates } from './templates';
import { isJsonObject, type JsonObject } from '../../json';

/** Replaces templates and matrices by the actions that they stand for, before any other step reads a pipeline. */

export interface Expansion {
  /** The file as if each action had been written out in full. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** The place in the file for a place in `value`. */
  readonly originOf: (path: Path) => Path;
  /** False if an action could not be made: a reference to that action, or to its outputs, is then no mistake. */
  readonly isWhole: boolean;
}

/** Never throws, and does not change a file without templates and matrices. */
export function expandActions(root: unknown): Expansion {
  if (!isJsonObject(root) || !hasMade(root))
    return { value: root, findings: [], originOf: (path) => path, isWhole: true };
  const { templates: _, ...rest } = root;
  const templates = readTemplates(root);
  const { actions } = root;
  if (!isJsonObject(actions))
    return { value: rest, findings: templates.findings, originOf: (path) => path, isWhole: false };
  const filler = new Filler();
  const made = new Map(
    Object.entries(actions).flatMap(([name, action]) =>
      isJsonObject(action) && needsExpansion(action)
        ? [[name, expandMember(root, name, action, templates, filler)] as const]
        : [],
    ),
  );
  const findings = [
    ...findReservedKeys(root, actions),
    ...templates.findings,
    ...findUnusedTemplates(templates, actions),
    ...[...made.values()].flatMap((each) => each.findings),
    ...filler.findings,
  ];
  return writeActions(rest, actions, made, findings, filler.origins);
}

const hasMade = (root: JsonObject): boolean =>
  Object.hasOwn(root, 'templates') ||
  (isJsonObject(root['actions']) &&
    Object.values(root['actions']).some((action) => isJsonObject(action) && needsExpansion(action)));

/** All actions in order; each generated action is at the place of its source. */
function writeActions(
  rest: JsonObject,
  actions: JsonObject,
  made: ReadonlyMap<string, MadeAction>,
  before: readonly Finding[],
  origins: Origins,
): Expansion {
  const groups: MatrixGroups = new Map(
    [...made.values()].flatMap(({ name, members }): [string, string[]][] =>
      members && isMatrix(actions[name]) ? [[name, members.map((member) => member.name)]] : [],
    ),
  );
  const plain = Object.entries(actions).flatMap(([name, action]): [string, unknown][] => {
    const of = made.get(name);
    if (of === undefined) return [[name, action]];
    return (of.members ?? [{ name, action: STAND_IN }]).map((member) => [member.name, member.action]);
  });
  const ofMade = [
    ...sameOutputs(groups, new Map(plain)),
    ...plain.flatMap(([name, action]) =>
      isJsonObject(action) ? findAmbiguousReferences(action, ['actions', name], groups) : [],
    ),
  ];
  const findings = [
    ...before,
    ...collisions(actions, groups),
    ...ofMade.map((finding) => ({ ...finding, path: findOrigin(finding.path, origins) })),
  ];
  const resolved = plain.map(([name, action]): [string, unknown] => [
    name,
    isJsonObject(action) ? resolveNames(action, ['actions', name], groups, origins) : action,
  ]);
  return {
    value: { ...rest, actions: Object.fromEntries(resolved) },
    findings,
    originOf: (path) => findOrigin(path, origins),
    isWhole: !findings.some(({ severity }) => severity === 'error'),
  };
}

/** Replaces an action that could not be made, since the rest is checked anyway. */
const STAND_IN = { type: 'manual-pick' };

const isMatrix = (action: unknown): boolean => isJsonObject(action) && Object.hasOwn(action, 'matrix');

function findOrigin(path: Path, origins: Origins): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(pathKey(path.slice(0, length)));
    if (origin) return [...origin, ...path.slice(length)];
  }
  return path;
}

/** The schema silently skips `__proto__`, whereas any other key that is not a name is an error. */
function findReservedKeys(root: JsonObject, actions: JsonObject): Finding[] {
  const of = (mapping: unknown, path: Path): Finding[] =>
    isJsonObject(mapping) && Object.hasOwn(mapping, '__proto__')
      ? [{ ...errorAt([...path, '__proto__'], 'invalid-name', '__proto__ is not a name', 'choose another'), at: 'key' }]
      : [];
  const inside = (mapping: unknown, path: Path, keys: readonly string[]): Finding[] =>
    Object.entries(isJsonObject(mapping) ? mapping : {}).flatMap(([name, each]) =>
      keys.flatMap((key) => (isJsonObject(each) ? of(each[key], [...path, name, key]) : [])),
    );
  return [
    ...of(root['templates'], ['templates']),
    ...of(actions, ['actions']),
    ...inside(root['templates'], ['templates'], ['params']),
    ...inside(actions, ['actions'], ['params', 'matrix']),
  ];
}

function findUnusedTemplates({ named }: Templates, actions: JsonObject): Finding[] {
  const used = new Set(Object.values(actions).map((action) => (isJsonObject(action) ? action['uses'] : undefined)));
  return [...named.keys()]
    .filter((name) => !used.has(name))
    .map((name): Finding => {
      const hint = `write uses: ${name} in an action, or remove it`;
      return { ...warningAt(['templates', name], 'unused-template', `no action uses ${name}`, hint), at: 'key' };
    });
}

/** Two actions with the same name. The name of a matrix is taken too, since other actions refer to it. */
function collisions(actions: JsonObject, groups: MatrixGroups): Finding[] {
  const seen = new Map(Object.keys(actions).map((name) => [name, name]));
  return [...groups].flatMap(([group, names]) =>
    names.flatMap((name): Finding[] => {
      const other = name === group ? undefined : seen.get(name);
      seen.set(name, group);
      if (other === undefined) return [];
      const message =
        other === group
          ? `${group} makes ${name} twice`
          : `${group} makes ${name}, and ${other === name ? 'there is one already' : `so does ${other}`}`;
      return [
        errorAt(['actions', group, 'matrix'], 'duplicate-action', message, 'choose another name, or other values'),
      ];
    }),
  );
}

/** The consumer of an artifact would have several possible producers. */
function sameOutputs(groups: MatrixGroups, actions: ReadonlyMap<string, unknown>): Finding[] {
  return [...groups.values()].flatMap((names) => {
    const makers = new Map<unknown, string>();
    return names.flatMap((name) =>
      getRawOutputs(actions.get(name)).flatMap((output, index): Finding[] => {
        const other = makers.get(output);
        makers.set(output, name);
        if (other === undefined || other === name) return [];
        const message = `${other} and ${name} both make ${String(output)}`;
        const hint = `put a parameter into its name: ${String(output)}-\${…}`;
        return [errorAt(['actions', name, 'outputs', index], 'same-output', message, hint)];
      }),
    );
  });
}

const getRawOutputs = (action: unknown): readonly unknown[] =>
  isJsonObject(action) && Array.isArray(action['outputs']) ? action['outputs'] : [];
