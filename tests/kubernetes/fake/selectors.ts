import { isFields, type Json } from './json';

type Labels = Readonly<Record<string, string>>;
export type Selects = (labels: Labels | undefined) => boolean;

/** The selector of a query: `app=web,tier in (a,b),!canary`. */
export function parseSelector(text: string): Selects {
  const parts = text.trim() === '' ? [] : splitOutside(text).map(parseRequirement);
  return (labels = {}) => parts.every((holds) => holds(labels));
}

/** At commas that are not in brackets. */
const splitOutside = (text: string): string[] => text.split(/,(?![^(]*\))/).map((part) => part.trim());

function parseRequirement(part: string): (labels: Labels) => boolean {
  const [, key = '', not, values = ''] =
    /^(\S+)\s+(not)?in\s*\(([^)]*)\)$/.exec(part.replace(/\bnotin\b/, 'notin')) ?? [];
  if (key !== '') {
    const known = values.split(',').map((value) => value.trim());
    return (labels) => known.includes(labels[key] ?? '\0') !== (not !== undefined);
  }
  const [, name = '', operator, value = ''] = /^([^=!\s]+)\s*(==|!=|=)\s*(\S*)$/.exec(part) ?? [];
  if (operator === '!=') return (labels) => labels[name] !== value;
  if (operator !== undefined) return (labels) => labels[name] === value;
  if (part.startsWith('!')) return (labels) => !(part.slice(1).trim() in labels);
  return (labels) => part in labels;
}

/** The selector of a workload or a budget. An empty one selects everything, a missing one nothing. */
export function readSelector(selector: Json | undefined): Selects {
  if (!isFields(selector)) return () => false;
  const exact = Object.entries(isFields(selector['matchLabels']) ? selector['matchLabels'] : {});
  const rows = (Array.isArray(selector['matchExpressions']) ? selector['matchExpressions'] : []).filter(isFields);
  return (labels = {}) =>
    exact.every(([key, value]) => labels[key] === value) &&
    rows.every(({ key, operator, values }) => {
      const label = labels[String(key)];
      const among = Array.isArray(values) && values.includes(label ?? '\0');
      if (operator === 'In') return among;
      if (operator === 'NotIn') return !among;
      return (label !== undefined) === (operator === 'Exists');
    });
}
