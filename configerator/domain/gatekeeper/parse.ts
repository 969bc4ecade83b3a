import { isJsonObject } from '../../../domain/json';
import { NAME } from '../../../domain/ids';
import { GATE_LIMITS, type Limit } from '../../../domain/limits';
import { whyNotPlain } from '../../../domain/plainText';
import { jsonBytes, sizeAndLimit, textBytes } from '../../../domain/size';
import { PARTS } from './hash';
import type { ProjectProblem, Project } from './project';
import { parseVersion } from './version';

/** A project from an unchecked value, or all of its problems. */
export type ParsedProject = { readonly project: Project } | { readonly problems: readonly ProjectProblem[] };

/**
 * Parses the project of a gate: returns the value as a project, or its problems, each with its path.
 *
 * @throws TypeError for a value that cannot be JSON because it contains itself or a bigint
 */
export function parseProject(value: unknown): ParsedProject {
  const problems: ProjectProblem[] = [];
  const report: Report = (path, why) => void problems.push({ path, why });
  const bytes = jsonBytes(value);
  if (bytes > GATE_LIMITS.project.max) report('', tooMuch(GATE_LIMITS.project, bytes));
  else checkProject(value, report);
  return problems.length > 0 ? { problems } : { project: value as Project };
}

type Report = (path: string, why: string) => void;
type Fields = Readonly<Record<string, unknown>>;

function checkProject(value: unknown, report: Report): void {
  if (!isJsonObject(value)) return report('', `expected { rules: […] }, got ${formatShortJson(value)}`);
  refuseStrangers(value, ['rules'], '', report);
  const { rules } = value;
  if (!Array.isArray(rules)) return report('rules', `expected a list, got ${formatShortJson(rules)}`);
  if (rules.length > GATE_LIMITS.rules.max) return report('rules', tooMuch(GATE_LIMITS.rules, rules.length));
  rules.forEach((rule, index) => checkGateRule(rule, `rules[${index}]`, report));
}

function checkGateRule(rule: unknown, path: string, report: Report): void {
  if (!isJsonObject(rule)) return report(path, `expected { if: […], pass: 0.05 }, got ${formatShortJson(rule)}`);
  refuseStrangers(rule, ['name', 'if', 'pass'], path, report);
  const { name, if: restraints, pass } = rule;
  if (name !== undefined && !(typeof name === 'string' && NAME.test(name)))
    report(`${path}.name`, `expected lower-case letters, digits and -, got ${formatShortJson(name)}`);
  PARAMETERS.share(pass, `${path}.pass`, report);
  if (!Array.isArray(restraints)) return report(`${path}.if`, `expected a list, got ${formatShortJson(restraints)}`);
  const { length } = restraints;
  if (length > GATE_LIMITS.restraints.max) return report(`${path}.if`, tooMuch(GATE_LIMITS.restraints, length));
  restraints.forEach((restraint, index) => checkRestraint(restraint, `${path}.if[${index}]`, report));
}

function checkRestraint(restraint: unknown, path: string, report: Report): void {
  if (!isJsonObject(restraint)) return report(path, `expected { restraint: … }, got ${formatShortJson(restraint)}`);
  const { restraint: name, not } = restraint;
  if (typeof name !== 'string' || !Object.hasOwn(RESTRAINTS, name))
    return report(`${path}.restraint`, `there is no restraint ${formatShortJson(name)}; there are ${NAMES.join(', ')}`);
  if (not !== undefined && typeof not !== 'boolean')
    report(`${path}.not`, `expected true or false, got ${formatShortJson(not)}`);
  const parameters = RESTRAINTS[name as keyof typeof RESTRAINTS] as Readonly<Record<string, keyof typeof PARAMETERS>>;
  refuseStrangers(restraint, ['restraint', 'not', ...Object.keys(parameters)], path, report);
  for (const [parameter, kind] of Object.entries(parameters))
    PARAMETERS[kind](restraint[parameter], `${path}.${parameter}`, report);
  if (
    typeof restraint['from'] === 'number' &&
    typeof restraint['to'] === 'number' &&
    restraint['from'] > restraint['to']
  )
    report(path, `from ${restraint['from']} is more than to ${restraint['to']}`);
  if (name === 'app-version' && restraint['min'] === undefined && restraint['below'] === undefined)
    report(path, 'expected min, below or both');
}

/** The required form of each kind of parameter. */
const PARAMETERS = {
  share: (value: unknown, path: string, report: Report): void => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 1))
      return report(path, `expected a number from 0 to 1, got ${formatShortJson(value)}`);
    if (Math.abs(Math.round(value * PARTS) / PARTS - value) > 1e-12)
      report(path, `expected at most six decimals, got ${value}`);
  },
  texts: (value: unknown, path: string, report: Report): void => {
    if (!Array.isArray(value)) return report(path, `expected a list of texts, got ${formatShortJson(value)}`);
    if (value.length > GATE_LIMITS.listed.max) return report(path, tooMuch(GATE_LIMITS.listed, value.length));
    value.forEach((text, index) => PARAMETERS.text(text, `${path}[${index}]`, report));
  },
  text: (value: unknown, path: string, report: Report): void => {
    if (typeof value !== 'string' || value === '')
      return report(path, `expected a text, got ${formatShortJson(value)}`);
    const why = whyNotPlain(value);
    if (why !== undefined) return report(path, why);
    if (textBytes(value) > GATE_LIMITS.text.max) report(path, tooMuch(GATE_LIMITS.text, textBytes(value)));
  },
  version: (value: unknown, path: string, report: Report): void => {
    if (value !== undefined && !(typeof value === 'string' && parseVersion(value)))
      report(path, `expected a version such as 1.2.3, got ${formatShortJson(value)}`);
  },
  days: (value: unknown, path: string, report: Report): void => {
    if (typeof value !== 'number' || !(value > 0 && value <= GATE_LIMITS.days.max))
      report(path, `expected a number of days up to ${GATE_LIMITS.days.max}, got ${formatShortJson(value)}`);
  },
  number: (value: unknown, path: string, report: Report): void => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      report(path, `expected a number, got ${formatShortJson(value)}`);
  },
};

/** The parameters of each restraint. */
const RESTRAINTS = {
  employee: {},
  id: { in: 'texts' },
  country: { in: 'texts' },
  region: { in: 'texts' },
  locale: { in: 'texts' },
  app: { in: 'texts' },
  device: { in: 'texts' },
  'app-version': { min: 'version', below: 'version' },
  'new-user': { days: 'days' },
  bucket: { salt: 'text', from: 'share', to: 'share' },
  slice: { from: 'share', to: 'share' },
  laser: { above: 'number' },
} as const satisfies Record<string, Readonly<Record<string, keyof typeof PARAMETERS>>>;
const NAMES = Object.keys(RESTRAINTS);

function refuseStrangers(fields: Fields, known: readonly string[], path: string, report: Report): void {
  for (const field of Object.keys(fields))
    if (!known.includes(field))
      report(path === '' ? field : `${path}.${field}`, `is not a field of it; there are ${known.join(', ')}`);
}

function tooMuch({ of, max, unit }: Limit, size: number): string {
  const numbers = { size: size.toLocaleString('en'), limit: max.toLocaleString('en') };
  const said = unit === 'bytes' ? sizeAndLimit(size, max) : numbers;
  return `${of} is ${said.size}, more than ${said.limit}`;
}

const MAX_VALUE_CHARS = 60;
function formatShortJson(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing';
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}
