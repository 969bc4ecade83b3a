import { MANUAL, STANDARD_FINDERS, whyCannotFind, WORKER_FINDERS } from '../../finder/standard';
import { lastProducers, tracePassages, findInputSource } from '../../release/graph';
import { listSubscribedChanges } from '../order';
import type { Rule } from '../rule';
import type { ActionSpec, PipelineSpec } from '../pipeline';
import { errorAt, nearestWord, suggest, warningAt, type Finding } from '../problem';

/** Every input has exactly one source, and all inputs of a release are used. */
const inputs: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]) =>
    action.inputs.flatMap((input, index) => {
      const path = ['actions', name, 'inputs', index];
      const source = findInputSource(spec.actions, name, input);
      if (source.kind === 'outside' && !Object.hasOwn(spec.artifacts, input)) {
        const produced = Object.values(spec.actions).flatMap(({ outputs }) => outputs);
        const known = [...new Set([...Object.keys(spec.artifacts), ...produced])].filter((other) => other !== input);
        const message = `nothing brings or produces ${input}`;
        return [errorAt(path, 'unknown-artifact', message, suggest(input, known))];
      }
      return ambiguous(spec, name, input, path);
    }),
  );

/**
 * Children receive the last value of an artifact. It has to be clear which producer is last, even if that one produces
 * nothing.
 */
const forChildren: Rule = (spec) =>
  (spec.children?.artifacts ?? []).flatMap((artifact, index): Finding[] => {
    const path = ['children', 'artifacts', index];
    const [last, ...others] = lastProducers(spec.actions, artifact);
    if (last === undefined) return [];
    if (others.length === 0) return ambiguous(spec, last, artifact, path);
    const message = `${artifact} comes from ${[last, ...others].join(' and ')}, and neither is the last`;
    return [errorAt(path, 'ambiguous-artifact', message, 'order them with needs, so that one of them comes last')];
  });

/** For an artifact that an action uses: whether its producer is clear, even if a producer made nothing and passes on another's value. */
export function ambiguous(spec: PipelineSpec, name: string, artifact: string, path: Finding['path']): Finding[] {
  const { through, end } = tracePassages(spec.actions, name, artifact);
  if (end.kind !== 'ambiguous') return [];
  const last = through.at(-1);
  const producers = `${end.actions.join(' and ')}, and neither is the nearest`;
  const from = last === undefined ? producers : `${last}, and where that makes none from ${producers}`;
  const hint = `order them with needs, so that one of them comes last before ${last ?? name}`;
  return [errorAt(path, 'ambiguous-artifact', `${artifact} comes from ${from}`, hint)];
}

/**
 * These types act on existing artifacts, or cannot report outputs; an action that waits for an artifact from one of them never gets it.
 */
const MAKE_NOTHING: readonly ActionSpec['type'][] = ['deploy', 'canary', 'manual-pick', 'custom-script', 'wait-for'];

const outputs: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, { type, outputs: declared }]) =>
    (MAKE_NOTHING.includes(type) ? declared : []).map((artifact, index) =>
      errorAt(
        ['actions', name, 'outputs', index],
        'unreachable-artifact',
        `${name} never makes ${artifact}: a ${type} makes no artifacts`,
        'let a build, a test or a custom action make it',
      ),
    ),
  );

/** The services of these types receive the action's outputs under that name. */
const SERVED: readonly ActionSpec['type'][] = ['build', 'pkg', 'integr-test', 'perf-test', 'custom'];

const findShadowedOutputs: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, { type, with: given }]) => {
    if (!SERVED.includes(type) || !Object.hasOwn(given, 'outputs')) return [];
    const message = `with.outputs has no effect: the service of ${name} is given the outputs of the action instead`;
    const hint = 'write outputs beside with, or give it another name';
    return [warningAt(['actions', name, 'with', 'outputs'], 'no-effect', message, hint)];
  });

const findUnusedArtifacts: Rule = (spec) => {
  const consumed = new Set(Object.values(spec.actions).flatMap((action) => action.inputs));
  const watched = Object.values(spec.actions).flatMap(({ when }) =>
    when.flatMap((clause) => ('artifact' in clause ? [clause.artifact] : 'changed' in clause ? [clause.changed] : [])),
  );
  return Object.keys(spec.artifacts)
    .filter((artifact) => !consumed.has(artifact) && !watched.includes(artifact))
    .map((artifact) =>
      warningAt(
        ['artifacts', artifact],
        'unused-artifact',
        `no action takes ${artifact}`,
        'list it in the inputs of an action, or remove it',
      ),
    );
};

/** Without an input a deploy has no version to bring. */
const deployInputs: Rule = (spec) =>
  Object.entries(spec.actions)
    .filter(([, action]) => (action.type === 'deploy' || action.type === 'canary') && action.inputs.length === 0)
    .map(([name, action]) =>
      errorAt(
        ['actions', name],
        'no-inputs',
        `${name} is a ${action.type} of nothing`,
        'name the artifact that it brings: inputs: [executable]',
      ),
    );

/** A standard finder needs valid parameters; the parameters of other finders are known only to their services. */
const finders: Rule = (spec) =>
  Object.entries(spec.artifacts).flatMap(([artifact, { finder, with: wanted }]) => {
    const path = ['artifacts', artifact, 'finder'];
    const near = Object.hasOwn(STANDARD_FINDERS, finder)
      ? undefined
      : nearestWord(finder, Object.keys(STANDARD_FINDERS));
    if (near !== undefined) {
      const hint = `did you mean ${near}? Else the platform must know a finder ${finder}`;
      return [warningAt(path, 'unknown-finder', `${finder} is not a standard finder`, hint)];
    }
    const why = whyCannotFind(finder, wanted);
    if (why !== undefined) {
      const hint = 'docs/reference/pipelines.md lists what each finder takes';
      if (finder === MANUAL)
        return [warningAt(path, 'finder-with', why, 'remove with: nothing looks for this artifact')];
      return [errorAt(path, 'finder-with', why, hint)];
    }
    if (!WORKER_FINDERS.includes(finder) || wanted['pipeline'] !== spec.pipeline) return [];
    const hint = 'name another pipeline; what an action of this one produces is there without a finder';
    return [errorAt(path, 'own-output', `${artifact} would come from this pipeline itself`, hint)];
  });

/** A later change does not contain a change that was skipped. */
const findSupersededChanges: Rule = (spec) => {
  const { supersede } = spec.releases;
  const [artifact] = listSubscribedChanges(spec);
  if (artifact === undefined || supersede === 'never') return [];
  const message = `a change of ${artifact} that a newer one overtakes never lands: with supersede: ${supersede} its release ends`;
  const hint = 'leave supersede out, so that every change has its turn';
  return [warningAt(['releases', 'supersede'], 'changes-superseded', message, hint)];
};

export const artifactRules: readonly Rule[] = [
  inputs,
  forChildren,
  outputs,
  findShadowedOutputs,
  findUnusedArtifacts,
  deployInputs,
  finders,
  findSupersededChanges,
];
