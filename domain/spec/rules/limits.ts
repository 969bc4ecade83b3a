import { excessText, over } from '../../excess';
import type { Excess } from '../../unfit';
import { SPEC_LIMITS, type Limit } from '../../limits';
import { jsonBytes } from '../../size';
import type { Rule } from '../rule';
import type { ActionSpec, PipelineSpec } from '../pipeline';
import { errorAt, type Finding, type Path } from '../problem';

/**
 * Limits for the file as a whole, and for parts without a length of their own: mappings, and values that are passed on unchanged.
 * The schema limits single lists and texts.
 */
const reportExcess = (path: Path, excess: Excess | undefined, hint: string): Finding[] =>
  excess ? [errorAt(path, 'over-limit', excessText(excess), hint)] : [];

const LEAVE_OUT = 'take some out; docs/reference/limits.md says why there is a limit';
const ELSEWHERE = 'put it where its service can read it, and write here where that is';

const count = (path: Path, limit: Limit, mapping: object): Finding[] =>
  reportExcess(path, over(limit, Object.keys(mapping).length), LEAVE_OUT);

const bytes = (path: Path, limit: Limit, value: unknown): Finding[] =>
  reportExcess(path, over(limit, jsonBytes(value)), ELSEWHERE);

/** Values that other rules compare with each other: above the limit, those rules would take minutes. */
export const graphLimit: Rule = ({ artifacts, actions }) => [
  ...count(['artifacts'], SPEC_LIMITS.artifacts, artifacts),
  ...count(['actions'], SPEC_LIMITS.actions, actions),
];

const mappings: Rule = ({ labels, mutex, children }) => [
  ...count(['labels'], SPEC_LIMITS.labels, labels),
  ...count(['mutex'], SPEC_LIMITS.mutex, mutex),
  ...(children && 'label' in children.pipelines
    ? count(['children', 'pipelines', 'label'], SPEC_LIMITS.childLabels, children.pipelines.label)
    : []),
  ...(children?.first ? count(['children', 'first', 'label'], SPEC_LIMITS.childLabels, children.first.label) : []),
];

/** A single search attribute of the pipeline's workflow holds all of them. */
const attributes: Rule = ({ owners, labels }) => [
  ...reportExcess(
    ['owners'],
    over(SPEC_LIMITS.ownersTogether, jsonBytes(owners)),
    'name a group of them: group:storage',
  ),
  ...bytes(
    ['labels'],
    SPEC_LIMITS.labelsTogether,
    Object.entries(labels).map(([key, value]) => `${key}=${value}`),
  ),
];

const opaque: Rule = ({ artifacts, actions }) => [
  ...Object.entries(artifacts).flatMap(([name, given]) =>
    bytes(['artifacts', name, 'with'], SPEC_LIMITS.finderWith, given.with),
  ),
  ...Object.entries(actions).flatMap(([name, action]) => ofAction(['actions', name, 'with'], action)),
];

function ofAction(path: Path, action: ActionSpec): Finding[] {
  if (action.type === 'canary') return bytes([...path, 'config'], SPEC_LIMITS.config, action.with.config);
  if (action.type !== 'deploy') return bytes(path, SPEC_LIMITS.actionWith, action.with);
  const { config, phases = [], completion } = action.with;
  return [
    ...bytes([...path, 'config'], SPEC_LIMITS.config, config),
    ...phases.flatMap(({ pre, post }, index) => ofSteps([...path, 'phases', index], { pre, post })),
    ...(completion ? ofSteps([...path, 'completion'], completion) : []),
  ];
}

type Steps = Pick<NonNullable<Extract<ActionSpec, { type: 'deploy' }>['with']['completion']>, 'pre' | 'post'>;

const ofSteps = (path: Path, { pre = [], post = [] }: Steps): Finding[] =>
  Object.entries({ pre, post }).flatMap(([when, steps]) =>
    steps.flatMap((step, index) => bytes([...path, when, index], SPEC_LIMITS.stepWith, step)),
  );

/** The size of a pipeline's state for each of its deploys, and of a release's state for each of its actions. */
const checkStateSize: Rule = ({ actions }) => {
  const all = Object.values(actions);
  const deploys = all.filter(({ type }) => type === 'deploy' || type === 'canary');
  const inputs = deploys.reduce((sum, action) => sum + action.inputs.length, 0);
  const outputs = all.reduce((sum, action) => sum + action.outputs.length, 0);
  return [
    ...reportExcess(['actions'], over(SPEC_LIMITS.deployInputs, inputs), 'make several pipelines of it'),
    ...reportExcess(['actions'], over(SPEC_LIMITS.outputsTogether, outputs), 'make several pipelines of it'),
  ];
};

const whole: Rule = (spec: PipelineSpec) =>
  reportExcess(
    [],
    over(SPEC_LIMITS.spec, jsonBytes(spec)),
    'make several pipelines of it, or select by labels instead of names',
  );

export const limitRules: readonly Rule[] = [graphLimit, mappings, attributes, opaque, checkStateSize, whole];
