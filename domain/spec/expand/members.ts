import { explainIssues, listKnownKeys } from '../explain';
import { errorAt, suggest, warningAt, type Finding, type Path } from '../problem';
import { matrixAction, templateAction } from '../written';
import { combine, type Combination } from './matrix';
import { faultsIn, pathKey, namesIn, type Filler, type ParamValue, type ParamScope } from './placeholders';
import type { Template, Templates } from './templates';
import type { JsonObject } from '../../json';

/** An action of the file that uses a template or a matrix, with all the actions that it generates. */
export interface MadeAction {
  readonly name: string;
  /** Null if there is a mistake, which `findings` describes. */
  readonly members: readonly { readonly name: string; readonly action: JsonObject }[] | null;
  readonly findings: readonly Finding[];
}

/** The instructions for making an action. */
interface Recipe {
  readonly path: Path;
  /** Fields that are written at the action itself. */
  readonly own: JsonObject;
  readonly params: JsonObject;
  readonly template: { readonly name: string; readonly of: Template } | undefined;
  readonly combinations: readonly Combination[];
}

export const needsExpansion = (action: JsonObject): boolean =>
  Object.hasOwn(action, 'uses') || Object.hasOwn(action, 'matrix');

/** Makes the actions of `actions.name` of the file `root`. */
export function expandMember(
  root: unknown,
  name: string,
  written: JsonObject,
  templates: Templates,
  filler: Filler,
): MadeAction {
  const path = ['actions', name];
  const schema = Object.hasOwn(written, 'uses') ? templateAction : matrixAction;
  const parsed = schema.safeParse(written, { error: listKnownKeys });
  if (!parsed.success) return { name, members: null, findings: explainIssues(parsed.error.issues, root, path) };
  const { matrix, exclude, ...rest } = parsed.data;
  const made = matrix
    ? combine(name, matrix, exclude ?? [], path)
    : { combinations: [{ name, scope: noScope() }], findings: [] };
  const axes = Object.keys(matrix ?? {});
  const { uses, params, own } = 'uses' in rest ? splitUse(rest) : { uses: undefined, params: {}, own: rest };
  const findings = [...made.findings, ...faultsIn(params, [...path, 'params'], axes), ...faultsIn(own, path, axes)];
  const template = uses === undefined ? undefined : templates.named.get(uses);
  if (uses !== undefined && template === undefined) findings.push(noTemplate(path, uses, templates));
  if (template) findings.push(...findParamMismatches(path, params, axes, template));
  findings.push(...idleAxes(path, axes, { own, params }, template));
  if (template === null || findings.some(({ severity }) => severity === 'error'))
    return { name, members: null, findings };
  const of = uses !== undefined && template ? { name: uses, of: template } : undefined;
  const recipe = { path, own, params, template: of, combinations: made.combinations };
  return { name, members: instantiate(recipe, filler), findings };
}

const noScope = (): ParamScope => new Map();

function splitUse({ uses, params, ...own }: { readonly uses: string; readonly params: JsonObject } & JsonObject) {
  return { uses, params, own };
}

function instantiate(
  { path, own, params, template, combinations }: Recipe,
  filler: Filler,
): NonNullable<MadeAction['members']> {
  return combinations.map(({ name, scope }) => {
    const at = ['actions', name];
    filler.origins.set(pathKey(at), path);
    const fill = (fields: JsonObject, from: Path, given: ParamScope): [string, unknown][] =>
      Object.entries(fields).map(([key, value]) => {
        filler.origins.set(pathKey([...at, key]), [...from, key]);
        return [key, filler.fill(value, [...at, key], [...from, key], given)];
      });
    const values = template ? buildParamScope(path, params, scope, template, filler) : scope;
    const of = template ? ['templates', template.name, 'action'] : path;
    const taken = Object.entries(template?.of.action ?? {}).filter(([key]) => !Object.hasOwn(own, key));
    const action = Object.fromEntries([...fill(Object.fromEntries(taken), of, values), ...fill(own, path, scope)]);
    return { name, action };
  });
}

/** The values of a template's parameters: from the matrix, else as given, else the defaults of the template. */
function buildParamScope(
  path: Path,
  params: JsonObject,
  axes: ParamScope,
  template: NonNullable<Recipe['template']>,
  filler: Filler,
): ParamScope {
  const place = [...path, 'params'];
  const given = Object.entries(params).filter(([, value]) => value !== null);
  const written = given.map(([param, value]): [string, ParamValue] => {
    const from = [...place, param];
    return [param, { value: filler.fill(value, from, from, axes), path: from }];
  });
  const defaults = [...template.of.params].map(([param, value]): [string, ParamValue] => {
    const from = ['templates', template.name, 'params', param];
    return [param, { value: filler.fill(value, from, from, noScope()), path: from }];
  });
  return new Map([...defaults, ...written, ...[...axes].filter(([axis]) => template.of.params.has(axis))]);
}

function noTemplate(path: Path, uses: string, { named }: Templates): Finding {
  return errorAt(
    [...path, 'uses'],
    'unknown-template',
    `there is no template ${uses}`,
    suggest(uses, [...named.keys()]),
  );
}

/** Missing parameters of a template, and given ones that it does not have. */
function findParamMismatches(path: Path, params: JsonObject, axes: readonly string[], template: Template): Finding[] {
  const known = [...template.params.keys()];
  const at = (param: string): Path => [...path, 'params', param];
  const strange = Object.keys(params)
    .filter((param) => !known.includes(param))
    .map((param) =>
      errorAt(at(param), 'unknown-param', `the template has no parameter ${param}`, suggest(param, known)),
    );
  const twice = Object.keys(params)
    .filter((param) => known.includes(param) && axes.includes(param))
    .map((param) =>
      errorAt(at(param), 'duplicate-param', `the matrix gives ${param} as well`, 'remove one of the two'),
    );
  const given = known.filter((param) => (params[param] ?? null) !== null || axes.includes(param));
  const missing = known
    .filter((param) => template.params.get(param) === null && !given.includes(param))
    .map((param) =>
      errorAt([...path, 'uses'], 'missing-param', `the template wants ${param}`, `add params: { ${param}: … }`),
    );
  return [...[...strange, ...twice].map((finding): Finding => ({ ...finding, at: 'key' })), ...missing];
}

/** Actions that differ only in their names. */
function idleAxes(
  path: Path,
  axes: readonly string[],
  own: JsonObject,
  template: Template | null | undefined,
): Finding[] {
  if (template === null) return [];
  const names = namesIn(own);
  return axes
    .filter((axis) => !names.has(axis) && !template?.params.has(axis))
    .map((axis): Finding => {
      const message = `nothing in the action has ${axis}, so its actions are the same but for their names`;
      return {
        ...warningAt([...path, 'matrix', axis], 'unused-param', message, `write \${${axis}} where it belongs`),
        at: 'key',
      };
    });
}
