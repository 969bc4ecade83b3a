import type { Artifact } from '../artifact';
import { hash } from '../hash';
import { WHERE_LIMITS } from '../limits';
import { firstWithin } from '../size';
import type { Trigger } from '../views';

/**
 * The words under which releases are listed by their revisions. Temporal's stores find no beginnings of words in a list, so a release is listed
 * under the first digits of each revision and digest, and its artifacts decide
 * (docs/adr/0076-a-release-is-listed-under-its-revisions.md).
 */

/** The fewest digits of an abbreviation, and the number under which a release is listed. */
export const LEAST_DIGITS = 7;

export const HEX = /^[0-9a-f]{7,128}$/i;
/** `kv:4f0c1d2e`, `12@4f0c…`, `v1.2-3-g4f0c1d2`. */
const HEX_INSIDE = /(?<![0-9a-z])g?([0-9a-f]{7,128})(?![0-9a-z])/gi;

/** The parts of a text that may be revisions or digests, in lower case. */
export const listHexWords = (text: string): readonly string[] =>
  [...text.matchAll(HEX_INSIDE)].map(([, digits = '']) => digits.toLowerCase());

/**
 * The words of a release with these artifacts: all revisions that it was built from and all digests; other words as long as they fit.
 */
function listRevisionWords(artifacts: readonly Artifact[]): readonly string[] {
  const words = [
    ...artifacts.flatMap(({ builtFrom }) => (builtFrom === undefined ? [] : [toRevisionWord(builtFrom.revision)])),
    ...artifacts.flatMap(({ digest = '' }) => listHexWords(digest).map(toDigestWord)),
    ...artifacts.flatMap(({ version }) => listHexWords(version).map(toRevisionWord)),
    ...artifacts.map(({ version }) => toVersionWord(version)),
  ];
  return firstWithin([...new Set(words)], WHERE_LIMITS.words.max);
}

/**
 * The labels of a release, by which Temporal lists it. The trigger comes first, so that each has one: those without began on an older worker.
 */
export const listReleaseLabels = (
  { kind }: Pick<Trigger, 'kind'>,
  artifacts: readonly Artifact[],
): readonly string[] => [`trigger=${kind}`, ...listRevisionWords(artifacts)];

export const toRevisionWord = (revision: string): string =>
  `revision=${HEX.test(revision) ? takeDigits(revision) : shortenWord(revision)}`;
export const toDigestWord = (hex: string): string => `digest=${takeDigits(hex)}`;
export const toVersionWord = (version: string): string => `version=${shortenWord(version)}`;

const takeDigits = (hex: string): string => hex.slice(0, LEAST_DIGITS).toLowerCase();

/** Only characters that every store accepts in a query. A long text is cut, and a number tells it from others. */
function shortenWord(text: string): string {
  if (text.length <= SHORT_WORD && SAFE.test(text)) return text;
  return `${text.slice(0, SHORT_START).replace(UNSAFE, '_')}~${hash(text).toString(36)}`;
}

const SHORT_WORD = 40;
const SHORT_START = 24;
const SAFE = /^[\w.:@/+-]+$/;
const UNSAFE = /[^\w.:@/+-]/g;
