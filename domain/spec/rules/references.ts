import type { Rule } from '../rule';
import { errorAt, suggest, type Finding, type Path } from '../problem';

/** Names that refer to something must refer to something that exists. */
const unknown = (path: Path, kind: string, name: string, known: readonly string[]): Finding[] =>
  known.includes(name) ? [] : [errorAt(path, `unknown-${kind}`, `there is no ${kind} ${name}`, suggest(name, known))];

const needs: Rule = (spec) => {
  const names = Object.keys(spec.actions);
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.needs.flatMap((need, index) => unknown(['actions', name, 'needs', index], 'action', need, names)),
  );
};

const mutex: Rule = (spec) => {
  const names = Object.keys(spec.mutex);
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.mutex.flatMap((group, index) => unknown(['actions', name, 'mutex', index], 'mutex', group, names)),
  );
};

const keepUntil: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]) => {
    if (action.type !== 'canary' || action.with.keepUntil === undefined) return [];
    return unknown(['actions', name, 'with', 'keepUntil'], 'action', action.with.keepUntil, Object.keys(spec.actions));
  });

const when: Rule = (spec) => {
  const actions = Object.keys(spec.actions);
  const produced = Object.values(spec.actions).flatMap(({ outputs }) => outputs);
  const artifacts = [...new Set([...Object.keys(spec.artifacts), ...produced])];
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.when.flatMap((clause, index) => {
      const path = ['actions', name, 'when', index];
      if ('action' in clause) return unknown([...path, 'action'], 'action', clause.action, actions);
      if ('artifact' in clause) return unknown([...path, 'artifact'], 'artifact', clause.artifact, artifacts);
      return unknown([...path, 'changed'], 'artifact', clause.changed, artifacts);
    }),
  );
};

const children: Rule = (spec) => {
  const produced = Object.values(spec.actions).flatMap(({ outputs }) => outputs);
  const artifacts = [...new Set([...Object.keys(spec.artifacts), ...produced])];
  return (spec.children?.artifacts ?? []).flatMap((name, index) =>
    unknown(['children', 'artifacts', index], 'artifact', name, artifacts),
  );
};

/** A version that is named is the other pipeline's; without one, it is that of this release. */
const waitFor: Rule = (spec) =>
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
        : unknown([...path, 'artifact'], 'artifact', artifact, [...new Set(own)])),
    ];
  });

export const referenceRules: readonly Rule[] = [needs, mutex, keepUntil, when, children, waitFor];
