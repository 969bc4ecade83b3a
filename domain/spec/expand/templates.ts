import { excessText, over } from '../../excess';
import { SPEC_LIMITS } from '../../limits';
import { explainIssues, listKnownKeys } from '../explain';
import { errorAt, warningAt, type Finding, type Path } from '../problem';
import { templateSchema, templatesSchema } from '../written';
import { faultsIn, namesIn } from './placeholders';
import { isJsonObject } from '../../json';

/** The template of an action: its fields as they are written, and their defaults. */
export interface Template {
  readonly params: ReadonlyMap<string, unknown>;
  readonly action: Readonly<Record<string, unknown>>;
}

export interface Templates {
  /** Null if the template exists but has a mistake. */
  readonly named: ReadonlyMap<string, Template | null>;
  readonly findings: readonly Finding[];
}

/** Reads `templates:` of the file `root`. */
export function readTemplates(root: Readonly<Record<string, unknown>>): Templates {
  const written = root['templates'];
  const parsed = templatesSchema.safeParse(written === undefined ? {} : written, { error: listKnownKeys });
  if (!parsed.success && !isJsonObject(written))
    return { named: new Map(), findings: explainIssues(parsed.error.issues, root, ['templates']) };
  const all = Object.entries(isJsonObject(written) ? written : {});
  const excess = over(SPEC_LIMITS.templates, all.length);
  if (excess)
    return { named: new Map(), findings: [errorAt(['templates'], 'over-limit', excessText(excess), 'take some out')] };
  const read = all.map(([name, template]) => ({ name, ...readTemplate(root, name, template) }));
  return {
    named: new Map(read.map(({ name, template }) => [name, template])),
    findings: [
      ...(parsed.success ? [] : explainIssues(parsed.error.issues, root, ['templates'])),
      ...read.flatMap(({ findings }) => findings),
    ],
  };
}

function readTemplate(
  root: unknown,
  name: string,
  written: unknown,
): { template: Template | null; findings: Finding[] } {
  const path = ['templates', name];
  const parsed = templateSchema.safeParse(written, { error: listKnownKeys });
  if (!parsed.success)
    return { template: null, findings: explainIssues(parsed.error.issues, root, path).map(explainMisplacedKey) };
  const { action } = parsed.data;
  const params = new Map(Object.entries(parsed.data.params));
  const known = [...params.keys()];
  const findings = [
    ...excessive(params, path),
    ...faultsIn(parsed.data.params, [...path, 'params'], []),
    ...faultsIn(action, [...path, 'action'], known),
  ];
  return findings.length > 0
    ? { template: null, findings }
    : { template: { params, action }, findings: findUnusedParams(params, action, path) };
}

function excessive(params: ReadonlyMap<string, unknown>, path: Path): Finding[] {
  const excess = over(SPEC_LIMITS.params, params.size);
  return excess ? [errorAt([...path, 'params'], 'over-limit', excessText(excess), 'take some out')] : [];
}

const OF_USERS = ['uses', 'params', 'matrix', 'exclude'];

/** A template defines fields for actions, and generates none by itself. */
function explainMisplacedKey(finding: Finding): Finding {
  const key = String(finding.path[3]);
  const isOfUser = finding.code === 'unknown-key' && finding.path.length === 4 && OF_USERS.includes(key);
  if (!isOfUser) return finding;
  const message = key === 'uses' ? 'a template cannot use another' : `${key} has no place in a template`;
  const hint = key === 'uses' ? 'write out what it takes of the other' : `write ${key} where the template is used`;
  return { ...errorAt(finding.path, 'misplaced-key', message, hint), at: 'key' };
}

function findUnusedParams(params: Template['params'], action: Template['action'], path: Path): Finding[] {
  const names = namesIn(action);
  return [...params.keys()]
    .filter((param) => !names.has(param))
    .map((param): Finding => {
      const hint = `write \${${param}} where it belongs, or remove it`;
      return {
        ...warningAt([...path, 'params', param], 'unused-param', `nothing in the template has ${param}`, hint),
        at: 'key',
      };
    });
}
