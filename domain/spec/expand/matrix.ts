import { excessText, over } from '../../excess';
import { NAME } from '../../ids';
import { SPEC_LIMITS } from '../../limits';
import { errorAt, suggest, warningAt, type Finding, type Path } from '../problem';
import type { ParamScope } from './placeholders';

/** One of the actions of a matrix: its name and its values. */
export interface Combination {
  readonly name: string;
  readonly scope: ParamScope;
}

type Value = string | number;
type Matrix = Readonly<Record<string, readonly Value[]>>;
type Exclude = readonly Readonly<Record<string, Value>>[];

interface CombinedMatrix {
  /** In the order of the file; the last parameter varies first. */
  readonly combinations: readonly Combination[];
  readonly findings: readonly Finding[];
}

/** The actions of the matrix on `action`, which is at `path`. */
export function combine(action: string, matrix: Matrix, exclude: Exclude, path: Path): CombinedMatrix {
  const axes = Object.entries(matrix);
  const count = axes.reduce((product, [, values]) => product * values.length, 1);
  const excess = over(SPEC_LIMITS.axes, axes.length) ?? over(SPEC_LIMITS.combinations, count, ` of ${action}`);
  if (excess) {
    const hint = 'make fewer, or several pipelines';
    return { combinations: [], findings: [errorAt([...path, 'matrix'], 'over-limit', excessText(excess), hint)] };
  }
  const wrong = [...noNames(action, axes, path), ...unknownIn(exclude, axes, path)];
  if (wrong.length > 0) return { combinations: [], findings: wrong };
  const all = axes.reduce<readonly Combination[]>(
    (made, [axis, values]) =>
      made.flatMap(({ name, scope }) =>
        values.map((value, index) => ({
          name: `${name}-${value}`,
          scope: new Map([...scope, [axis, { value, path: [...path, 'matrix', axis, index] }]]),
        })),
      ),
    [{ name: action, scope: new Map() }],
  );
  const combinations = all.filter(({ scope }) => !exclude.some((left) => isExcluded(left, scope)));
  return {
    combinations,
    findings: [
      ...noneLeft(action, combinations, path),
      ...tooLongNames(combinations, path),
      ...idleExcludes(exclude, all, path),
    ],
  };
}

const isExcluded = (exclude: Exclude[number], scope: ParamScope): boolean =>
  Object.entries(exclude).every(([axis, value]) => scope.get(axis)?.value === value);

/** Values that cannot be the end of a name. */
const noNames = (action: string, axes: readonly [string, readonly Value[]][], path: Path): Finding[] =>
  axes.flatMap(([axis, values]) =>
    values.flatMap((value, index): Finding[] => {
      if (NAME.test(String(value))) return [];
      const message = `${action}-${value} is not a name`;
      const hint = `the values of a matrix are parts of names: lower-case letters, digits and hyphens`;
      return [errorAt([...path, 'matrix', axis, index], 'invalid-name', message, hint)];
    }),
  );

const unknownIn = (exclude: Exclude, axes: readonly [string, unknown][], path: Path): Finding[] =>
  exclude.flatMap((left, index) =>
    Object.keys(left)
      .filter((axis) => !axes.some(([known]) => known === axis))
      .map((axis): Finding => {
        const hint = suggest(
          axis,
          axes.map(([known]) => known),
        );
        return {
          ...errorAt([...path, 'exclude', index, axis], 'unknown-param', `the matrix has no ${axis}`, hint),
          at: 'key',
        };
      }),
  );

function noneLeft(action: string, combinations: readonly Combination[], path: Path): Finding[] {
  if (combinations.length > 0) return [];
  return [
    errorAt([...path, 'exclude'], 'empty-matrix', `nothing is left of ${action}`, 'leave something out of exclude'),
  ];
}

function tooLongNames(combinations: readonly Combination[], path: Path): Finding[] {
  const long = combinations.find(({ name }) => !NAME.test(name));
  if (long === undefined) return [];
  const message = `${long.name} is not a name: it has ${long.name.length} characters`;
  return [
    errorAt([...path, 'matrix'], 'invalid-name', message, 'at most 63: shorten the name of the action or the values'),
  ];
}

const idleExcludes = (exclude: Exclude, all: readonly Combination[], path: Path): Finding[] =>
  exclude.flatMap((left, index) => {
    if (all.some(({ scope }) => isExcluded(left, scope))) return [];
    return [
      warningAt(
        [...path, 'exclude', index],
        'no-effect',
        'the matrix has no such combination',
        'remove it, or write values that the matrix has',
      ),
    ];
  });
