import { parseProject } from '../configerator/domain/gatekeeper/parse';
import type { GateRule, Restraint } from '../configerator/domain/gatekeeper/project';

/** A gate in words. */
interface GateTexts {
  /** In the order in which they are tried. */
  readonly rules: readonly GateRuleTexts[];
  /** Why the text is no gate; empty if it is one. */
  readonly problems: readonly string[];
}

export interface GateRuleTexts {
  readonly name: string;
  /** The users to whom it applies. */
  readonly who: string;
  /** The share of them that passes, from 0 to 1. */
  readonly pass: number;
  /** `12.5%` */
  readonly share: string;
}

export function describeGate(text: string): GateTexts {
  const parsed = parseProject(parseOrNull(text));
  if ('problems' in parsed)
    return { rules: [], problems: parsed.problems.map(({ path, why }) => (path === '' ? why : `${path}: ${why}`)) };
  return { rules: parsed.project.rules.map(describeRule), problems: [] };
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const describeRule = ({ name, if: restraints, pass }: GateRule, nth: number): GateRuleTexts => ({
  name: name ?? `rule ${nth + 1}`,
  who: restraints.length === 0 ? 'every user' : restraints.map(describeRestraint).join(' and '),
  pass,
  // A share has six decimals.
  share: `${Number((pass * 100).toFixed(4))}%`,
});

const describeRestraint = (restraint: Restraint): string =>
  restraint.not ? `not (${describePlain(restraint)})` : describePlain(restraint);

function describePlain(one: Restraint): string {
  switch (one.restraint) {
    case 'employee':
      return 'employees';
    case 'app-version':
      return ['app version', ...(one.min === undefined ? [] : [`from ${one.min}`]), ...belowWords(one.below)].join(' ');
    case 'new-user':
      return `users younger than ${one.days} days`;
    case 'bucket':
      return `part ${one.from} to ${one.to} of all users, by ${one.salt}`;
    case 'slice':
      return `part ${one.from} to ${one.to} of its users`;
    case 'laser':
      return `more than ${one.above} in the key-value store`;
    default:
      return `${one.restraint} ${shortListWords(one.in)}`;
  }
}

const belowWords = (below: string | undefined): string[] => (below === undefined ? [] : [`below ${below}`]);

const SHOWN_OF_LIST = 12;

const shortListWords = (words: readonly string[]): string =>
  words.length <= SHOWN_OF_LIST
    ? words.join(', ')
    : `${words.slice(0, SHOWN_OF_LIST).join(', ')} and ${words.length - SHOWN_OF_LIST} more`;
