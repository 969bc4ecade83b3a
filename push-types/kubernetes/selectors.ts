import { z } from 'zod';

/** Label selectors: as text, as `kubectl -l` takes them, and as objects, as workloads and budgets have them. */

type LabelSet = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

export type LabelMatcher = (labels: LabelSet) => boolean;

const selectorSchema = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.looseObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
});

/** `app=web,tier in (a,b),!canary`. @returns undefined for a text that is no selector */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  const parts = text.split(/,(?![^(]*\))/).map((part) => readRequirement(part.trim()));
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? (labels) => known.every((one) => meetsRequirement(one, labels)) : undefined;
}

/** The selector of an object as text for a list. @throws Error if it is no selector */
export function writeLabelSelector(selector: unknown): string {
  return listRequirements(selector).map(writeRequirement).join(',');
}

/** The selector of an object: an empty one selects everything, a missing one nothing. */
export function matchSelector(selector: unknown): LabelMatcher {
  if (selector === undefined || selector === null) return () => false;
  const requirements = listRequirements(selector);
  return (labels) => requirements.every((one) => meetsRequirement(one, labels));
}

function listRequirements(selector: unknown): readonly Requirement[] {
  const { matchLabels = {}, matchExpressions } = selectorSchema.parse(selector);
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
    ...(matchExpressions ?? []).map(({ key, operator, values }) => ({ key, operator, values: values ?? [] })),
  ];
}

const LABEL_KEY = String.raw`[A-Za-z0-9][A-Za-z0-9._/-]*`;
const FORMS: readonly (readonly [RegExp, Requirement['operator']])[] = [
  [new RegExp(`^(${LABEL_KEY})\\s+notin\\s*\\(([^()]*)\\)$`), 'NotIn'],
  [new RegExp(`^(${LABEL_KEY})\\s+in\\s*\\(([^()]*)\\)$`), 'In'],
  [new RegExp(`^(${LABEL_KEY})\\s*!=\\s*([A-Za-z0-9._-]*)$`), 'NotIn'],
  [new RegExp(`^(${LABEL_KEY})\\s*==?\\s*([A-Za-z0-9._-]*)$`), 'In'],
  [new RegExp(`^!\\s*(${LABEL_KEY})$`), 'DoesNotExist'],
  [new RegExp(`^(${LABEL_KEY})$`), 'Exists'],
];

function readRequirement(text: string): Requirement | undefined {
  for (const [form, operator] of FORMS) {
    const [, key, values] = form.exec(text) ?? [];
    if (key === undefined) continue;
    return { key, operator, values: values?.split(',').map((value) => value.trim()) ?? [] };
  }
  return undefined;
}

function meetsRequirement({ key, operator, values }: Requirement, labels: LabelSet): boolean {
  const label = labels[key];
  if (operator === 'Exists') return label !== undefined;
  if (operator === 'DoesNotExist') return label === undefined;
  const isAmong = label !== undefined && values.includes(label);
  return operator === 'In' ? isAmong : !isAmong;
}

function writeRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
}
