import { formatIdentity, matchesIdentity, type Artifact } from '../artifact';
import { conveyorError } from '../errors';
import { REQUEST_LIMITS } from '../limits';
import { whyNotPlain } from '../plainText';
import { utf8Bytes } from '../size';
import { HEX, listHexWords, toDigestWord, toRevisionWord, toVersionWord } from './words';

/** A commit, in full or abbreviated, a digest or a version, as a person typed it. */
export interface RevisionQuestion {
  readonly text: string;
  /** Its hexadecimal digits in lower case, if it has at least as many as git abbreviates to. */
  readonly hex: string | null;
  /** Each release that contains it is listed under one of these words. */
  readonly words: readonly string[];
}

/** The artifact by which a release contains a revision. */
export interface RevisionMatch {
  /** Its identity. */
  readonly artifact: string;
  readonly by: 'revision' | 'version' | 'digest';
  /** As recorded with the artifact, in full. */
  readonly revision: string;
}

/** A full SHA-1; a shorter revision may have been recorded abbreviated. */
const SHA1_DIGITS = 40;

/** @throws ConveyorError `usage` for a text that cannot be a revision */
export function parseQuestion(given: string): RevisionQuestion {
  const text = given.trim();
  const why = whyNotRevision(text);
  if (why !== undefined)
    throw conveyorError('usage', {
      text: why,
      hint: 'name a commit by 7 digits or more, a version such as kv:12, or a digest such as sha256:…',
    });
  const hex = HEX.test(text) ? text.toLowerCase() : null;
  return { text, hex, words: listQuestionWords(text) };
}

function whyNotRevision(text: string): string | undefined {
  if (text === '') return 'no revision is given';
  const why = whyNotPlain(text);
  if (why !== undefined) return `the revision ${why}`;
  const [bytes, { max }] = [utf8Bytes(text), REQUEST_LIMITS.word];
  return bytes > max ? `the revision has ${bytes} bytes; the limit is ${max}` : undefined;
}

function listQuestionWords(text: string): readonly string[] {
  const version = /^[a-z0-9-]+@([^#]+)/.exec(text)?.[1] ?? text;
  const words = [toRevisionWord(text), ...listHexWords(text).map(toDigestWord), ...[text, version].map(toVersionWord)];
  return [...new Set(words)];
}

/** How one of these artifacts comes from the revision; undefined if none does. */
export function findMatch(question: RevisionQuestion, artifacts: readonly Artifact[]): RevisionMatch | undefined {
  for (const artifact of artifacts) {
    const found =
      matchRevision(question, artifact) ?? matchDigest(question, artifact) ?? matchVersion(question, artifact);
    if (found !== undefined) return { artifact: formatIdentity(artifact), ...found };
  }
  return undefined;
}

type Found = Pick<RevisionMatch, 'by' | 'revision'>;

function matchRevision({ text, hex }: RevisionQuestion, { builtFrom, version }: Artifact): Found | undefined {
  const built = builtFrom?.revision;
  if (built === text) return { by: 'revision', revision: text };
  if (hex === null) return undefined;
  const known = [...(built !== undefined && HEX.test(built) ? [built.toLowerCase()] : []), ...listHexWords(version)];
  const revision = known.find((one) => isSameRevision(one, hex));
  return revision === undefined ? undefined : { by: 'revision', revision };
}

/** Either may be abbreviated. */
const isSameRevision = (known: string, asked: string): boolean =>
  known.startsWith(asked) || (known.length < SHA1_DIGITS && asked.startsWith(known));

function matchDigest({ text, hex }: RevisionQuestion, { digest }: Artifact): Found | undefined {
  if (digest === undefined) return undefined;
  const isBeginning = listHexWords(text).length > 0 && digest.startsWith(text.toLowerCase());
  const isIt =
    digest === text || isBeginning || (hex !== null && listHexWords(digest).some((one) => one.startsWith(hex)));
  return isIt ? { by: 'digest', revision: digest } : undefined;
}

function matchVersion({ text }: RevisionQuestion, artifact: Artifact): Found | undefined {
  const isIt = artifact.version === text || matchesIdentity(formatIdentity(artifact), text);
  return isIt ? { by: 'version', revision: artifact.version } : undefined;
}

/**
 * The different revisions that an abbreviation may mean; only one if it is exact. A revision and its own abbreviation are the same.
 */
export function listCandidates(
  { text, hex }: Pick<RevisionQuestion, 'text' | 'hex'>,
  matches: readonly Pick<RevisionMatch, 'revision'>[],
): readonly string[] {
  const all = [...new Set(matches.map(({ revision }) => revision))];
  const exact = all.find((one) => one === text || one === hex);
  if (exact !== undefined) return [exact];
  return all.filter((one) => !all.some((other) => other !== one && other.startsWith(one)));
}
