import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../system/process';

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: object };
    readonly template?: { readonly metadata: { readonly labels: object } };
  };
}

/**
 * The manifests of operations/kubernetes, held against the schemas of Kubernetes 1.37.1. Those are the definitions of these kinds in its
 * api/openapi-spec/swagger.json, without descriptions; a field that they do not name is a mistake.
 */
const { kinds, definitions } = JSON.parse(
  readFileSync(join(ROOT, 'tests/fixtures/kubernetes/schemas-1.37.1.json'), 'utf8'),
) as { readonly kinds: Readonly<Record<string, string>>; readonly definitions: object };
const ajv = new Ajv({ allErrors: true });
const validators = Object.fromEntries(
  Object.entries(kinds).map(([kind, name]) => [kind, ajv.compile({ $ref: `#/definitions/${name}`, definitions })]),
);

const faultsOf = (resource: Resource): string[] => {
  const validate = validators[`${resource.apiVersion} ${resource.kind}`];
  if (validate === undefined) return [`no schema of ${resource.apiVersion} ${resource.kind}`];
  return validate(resource) ? [] : (validate.errors ?? []).map(({ dataPath, message }) => `${dataPath} ${message}`);
};

const resources = parseAllDocuments(readFileSync(join(ROOT, 'operations/kubernetes/conveyor.yaml'), 'utf8')).map(
  (document) => document.toJS() as Resource,
);

test.each(resources.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))(
  '%s is as Kubernetes takes it',
  (_name, one) => {
    expect(faultsOf(one)).toEqual([]);
  },
);

test('a field that Kubernetes does not know is found', () => {
  const [deployment] = resources.filter(({ kind }) => kind === 'Deployment');
  expect(faultsOf({ ...deployment, spec: { ...deployment?.spec, replica: 2 } } as unknown as Resource)).toEqual([
    '.spec should NOT have additional properties',
  ]);
});

test('every process that a Deployment runs may be disrupted one at a time, and is selected by its own labels', () => {
  const deployments = resources.filter(({ kind }) => kind === 'Deployment');
  const budgets = resources.filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ metadata }) => metadata.name);
  expect(budgets.sort()).toEqual(deployments.map(({ metadata }) => metadata.name).sort());
  for (const { spec } of deployments) expect(spec?.selector?.matchLabels).toEqual(spec?.template?.metadata.labels);
});
