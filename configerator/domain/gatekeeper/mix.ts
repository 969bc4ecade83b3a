import type { ProjectProblem, Project, GateRule } from './project';

/** The version of each slice of users, by rule. */
export interface Mixture {
  /** All rules, in the order in which they are tried. */
  readonly rules: readonly string[];
  /** The version of each slice, for each rule. */
  readonly slices: Readonly<Record<string, readonly string[]>>;
  readonly versions: Readonly<Record<string, Project>>;
}

/**
 * The project in which every slice is on its version. If the slices of a rule differ only in `pass`, and the passing users are the first in the
 * sampling order, the rule stays a single one. Users without an id then pass once all parts together let everyone pass. Otherwise each part of its
 * slices becomes a rule, and users outside all parts fall through to the next rule.
 */
export function mixOf({ rules, slices, versions }: Mixture): Project {
  const [first, ...others] = new Set(rules.flatMap((name) => slices[name] ?? []));
  const whole = first === undefined ? undefined : versions[first];
  if (whole && others.length === 0) return whole;
  return { rules: rules.flatMap((name) => mixRule(name, slices[name] ?? [], versions)) };
}

/** The reasons why a project cannot be rolled out rule by rule: rules without a name, or other rules than these in this order. */
export function whyNotMixable({ rules }: Project, names: readonly string[]): ProjectProblem[] {
  const problems: ProjectProblem[] = [];
  let last = -1;
  for (const [at, { name }] of rules.entries()) {
    const place = name === undefined ? -1 : names.indexOf(name);
    const path = `rules[${at}].name`;
    if (name === undefined) problems.push({ path, why: 'is missing: a deploy goes by the names of rules' });
    else if (place < 0) problems.push({ path, why: `${name} is none of ${names.join(', ')}` });
    else if (place <= last)
      problems.push({ path, why: `${name} comes twice, or not in the order of ${names.join(', ')}` });
    last = Math.max(last, place);
  }
  return problems;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly rule: GateRule | undefined;
}

function mixRule(name: string, slices: readonly string[], versions: Readonly<Record<string, Project>>): GateRule[] {
  const ruleIn = (version: string): GateRule | undefined => versions[version]?.rules.find((rule) => rule.name === name);
  const parts = groupEqualRules(slices.map(ruleIn));
  const [only] = parts;
  if (only && parts.length === 1) return only.rule ? [only.rule] : [];
  return asOneRule(parts) ?? parts.flatMap(asItsOwnRule);
}

/** Neighbours with the same rule are one part. */
function groupEqualRules(rules: readonly (GateRule | undefined)[]): Part[] {
  const parts: Part[] = [];
  for (const [at, rule] of rules.entries()) {
    const last = parts.at(-1);
    const to = (at + 1) / rules.length;
    if (last && last.rule === rule) parts[parts.length - 1] = { ...last, to };
    else parts.push({ from: at / rules.length, to, rule });
  }
  return parts;
}

/** The rule with the combined share of all parts; undefined if that would have another meaning. */
function asOneRule(parts: readonly Part[]): GateRule[] | undefined {
  const [first] = parts;
  if (!first?.rule) return undefined;
  const condition = JSON.stringify(first.rule.if);
  let [pass, isOver] = [0, false];
  for (const { from, to, rule } of parts) {
    if (!rule || JSON.stringify(rule.if) !== condition) return undefined;
    const end = Math.min(to, rule.pass);
    if (end > from && isOver) return undefined;
    if (end > from) pass = end;
    isOver ||= end < to;
  }
  return [{ ...first.rule, pass: sixDecimals(pass) }];
}

function asItsOwnRule({ from, to, rule }: Part): GateRule[] {
  if (!rule) return [];
  const slice = { restraint: 'slice', from: sixDecimals(from), to: sixDecimals(to) } as const;
  return [{ ...rule, if: [...rule.if, slice] }];
}

const sixDecimals = (share: number): number => Math.round(share * 1e6) / 1e6;
