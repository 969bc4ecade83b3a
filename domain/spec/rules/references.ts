import type { Rule } from '../rule';
import { errorAt, suggest, type Finding, type Path } from '../problem';

/** Names must refer to existing things. */
const unknownName = (path: Path, kind: string, name: string, known: readonly string[]): Finding[] =>
  known.includes(name) ? [] : [errorAt(path, `unknown-${kind}`, `there is no ${kind} ${name}`, suggest(name, known))];

const needsNames: Rule = (spec) => {
  const names = Object.keys(spec.actions);
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.needs.flatMap((need, index) => unknownName(['actions', name, 'needs', index], 'action', need, names)),
  );
};

const mutex: Rule = (spec) => {
  const names = Object.keys(spec.mutex);
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.mutex.flatMap((group, index) => unknownName(['actions', name, 'mutex', index], 'mutex', group, names)),
  );
};

const keepUntil: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]) => {
    if (action.type !== 'canary' || action.with.keepUntil === undefined) return [];
    return unknownName(
      ['actions', name, 'with', 'keepUntil'],
      'action',
      action.with.keepUntil,
      Object.keys(spec.actions),
    );
  });

const whenNames: Rule = (spec) => {
  const actions = Object.keys(spec.actions);
  const produced = Object.values(spec.actions).flatMap(({ outputs }) => outputs);
  const artifacts = [...new Set([...Object.keys(spec.artifacts), ...produced])];
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.when.flatMap((clause, index) => {
      const path = ['actions', name, 'when', index];
      if ('action' in clause) return unknownName([...path, 'action'], 'action', clause.action, actions);
      if ('artifact' in clause) return unknownName([...path, 'artifact'], 'artifact', clause.artifact, artifacts);
      return unknownName([...path, 'changed'], 'artifact', clause.changed, artifacts);
    }),
  );
};

const childrenNames: Rule = (spec) => {
  const produced = Object.values(spec.actions).flatMap(({ outputs }) => outputs);
  const artifacts = [...new Set([...Object.keys(spec.artifacts), ...produced])];
  return (spec.children?.artifacts ?? []).flatMap((name, index) =>
    unknownName(['children', 'artifacts', index], 'artifact', name, artifacts),
  );
};

/** A named version is of the other pipeline; without a name, it is the version of this release. */
const waitForTargets: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    if (action.type !== 'wait-for') return [];
    const path = ['actions', name, 'with'];
    const { pipeline, artifact, version } = action.with;
    const own = [...Object.keys(spec.artifacts), ...Object.values(spec.actions).flatMap(({ outputs }) => outputs)];
    return [
      ...(pipeline === spec.pipeline
        ? [
            errorAt(
              [...path, 'pipeline'],
              'waits-for-itself',
              `${pipeline} would wait for its own release, which waits for this`,
              'name another pipeline; releases of one pipeline deploy in order anyway',
            ),
          ]
        : []),
      ...(artifact === undefined || version !== undefined
        ? []
        : unknownName([...path, 'artifact'], 'artifact', artifact, [...new Set(own)])),
    ];
  });

export const referenceRules: readonly Rule[] = [needsNames, mutex, keepUntil, whenNames, childrenNames, waitForTargets];
