import type { Rule } from '../rule';
import { errorAt, warningAt, type Finding, type Path } from '../problem';

/**
 * A parent's children must be other pipelines, selected by at least one property, and the first subset must be able to
 * reach its required size.
 */
const hasNoLabels = (labels: Readonly<Record<string, string>>): boolean => Object.keys(labels).length === 0;

const noLabel = (path: Path): Finding =>
  errorAt(
    path,
    'no-label',
    'an empty label matches no pipeline',
    'name a label that the children carry, such as { parent: inference }',
  );

const selectionFaults: Rule = ({ pipeline, children }) => {
  if (children === undefined) return [];
  const { pipelines } = children;
  if ('label' in pipelines) return hasNoLabels(pipelines.label) ? [noLabel(['children', 'pipelines', 'label'])] : [];
  return pipelines.flatMap((name, index) => {
    const path = ['children', 'pipelines', index];
    if (name === pipeline)
      return [errorAt(path, 'own-child', `${pipeline} cannot be a child of itself`, 'remove it from the list')];
    return pipelines.indexOf(name) < index
      ? [
          warningAt(
            path,
            'child-twice',
            `${name} is listed twice`,
            'one release of it is started; remove one of the two',
          ),
        ]
      : [];
  });
};

const firstFaults: Rule = ({ pipeline, children }) => {
  if (children?.first === undefined) return [];
  const { pipelines, first: wanted } = children;
  const path = ['children', 'first'];
  if (hasNoLabels(wanted.label)) return [noLabel([...path, 'label'])];
  if (!('label' in pipelines)) {
    const { size } = new Set(pipelines.filter((name) => name !== pipeline));
    const message = `${wanted.atLeast} children can never succeed where there are ${size}`;
    const hint = `at most ${size}; with fewer than that no child would be started at all`;
    return wanted.atLeast > size ? [errorAt([...path, 'atLeast'], 'first-impossible', message, hint)] : [];
  }
  const key = Object.keys(wanted.label).find(
    (name) => Object.hasOwn(pipelines.label, name) && pipelines.label[name] !== wanted.label[name],
  );
  if (key === undefined) return [];
  const message = `no child can be ${key}=${wanted.label[key] ?? ''}: all of them are ${key}=${pipelines.label[key] ?? ''}`;
  return [errorAt([...path, 'label', key], 'first-impossible', message, 'name a label by which the children differ')];
};

const artifacts: Rule = ({ children }) =>
  children === undefined || children.artifacts.length > 0
    ? []
    : [
        warningAt(
          ['children'],
          'nothing-handed-on',
          'the children are given nothing, so each is released with what it had last',
          'list what they take of this pipeline: artifacts: [executable]',
        ),
      ];

export const childrenRules: readonly Rule[] = [selectionFaults, firstFaults, artifacts];
