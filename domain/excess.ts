import type { Artifact } from './artifact';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, type Limit } from './limits';
import { LINES, whyNotPlain, writtenOut } from './plainText';
import { formatBytes, jsonBytes, textBytes } from './size';
import type { CommandInput } from './verbs';
import type { Trigger } from './views';

/** What of a request is too large, as the error `over-limit` says it. */
export interface Excess {
  /** `the metadata of the artifact source` */
  readonly what: string;
  readonly size: string;
  readonly limit: string;
}

/** A text that is empty, or not plain (domain/plainText.ts), as the error `invalid-text` says it. */
export interface BadText {
  readonly what: string;
  /** `is empty` */
  readonly why: string;
}

/** What no door takes: the command line, the API, webhooks, and what finders find. Undefined when all is well. */
export type Unfit = Excess | BadText;

export const unfitArtifacts = (artifacts: readonly Artifact[]): Unfit | undefined =>
  excessOfArtifacts(artifacts) ?? first(artifacts, badTextIn);

export const unfitArtifact = (artifact: Artifact): Unfit | undefined =>
  excessOfArtifact(artifact) ?? badTextIn(artifact);

export const unfitTrigger = (trigger: Trigger): Unfit | undefined =>
  excessOfTrigger(trigger) ?? first(textsOfTrigger(trigger), (given) => notPlain(given));

export const unfitKey = (key: string): Unfit | undefined => excessOfKey(key) ?? notPlain([REQUEST_LIMITS.key, key]);

export const unfitCommand = (command: CommandInput): Unfit | undefined =>
  excessOfCommand(command) ?? first(textsOfCommand(command), (given) => notPlain(given));

/** Checked at every door, and again by the workflow, which anybody can talk to. Undefined when all is within its limits. */
export function excessOfArtifacts(artifacts: readonly Artifact[]): Excess | undefined {
  return (
    over(REQUEST_LIMITS.artifacts, artifacts.length) ??
    first(artifacts, excessOfArtifact) ??
    over(REQUEST_LIMITS.artifactsTogether, jsonBytes(artifacts))
  );
}

function excessOfArtifact(artifact: Artifact): Excess | undefined {
  return (
    first(textsOf(artifact), tooLong) ??
    excessOfMetadata(artifact.metadata, ofArtifact(artifact)) ??
    over(ARTIFACT_LIMITS.whole, jsonBytes(artifact), `: ${short(artifact.name)}`)
  );
}

/** A text that came in, what it is, and of what. */
type Given = readonly [limit: Limit, text: string | undefined, of?: string];

function textsOf(artifact: Artifact): Given[] {
  const { name, kind, version, digest, uri, producedBy, builtFrom } = artifact;
  const of = ofArtifact(artifact);
  return [
    [ARTIFACT_LIMITS.name, name, of],
    [ARTIFACT_LIMITS.kind, kind, of],
    [ARTIFACT_LIMITS.version, version, of],
    [ARTIFACT_LIMITS.digest, digest, of],
    [ARTIFACT_LIMITS.uri, uri, of],
    [ARTIFACT_LIMITS.producedBy, producedBy, of],
    [ARTIFACT_LIMITS.repository, builtFrom?.repository, of],
    [ARTIFACT_LIMITS.revision, builtFrom?.revision, of],
    [ARTIFACT_LIMITS.target, builtFrom?.target, of],
  ];
}

const ofArtifact = ({ name }: Pick<Artifact, 'name'>): string => ` of the artifact ${short(name)}`;

const ofEntry = (key: string, of: string): string => `, ${short(key)},${of}`;

function badTextIn(artifact: Artifact): BadText | undefined {
  const of = ofArtifact(artifact);
  const metadata = Object.entries(artifact.metadata);
  return (
    first(textsOf(artifact), (given) => empty(given) ?? notPlain(given)) ??
    first(metadata, ([key]) => empty([ARTIFACT_LIMITS.metadataKey, key, of])) ??
    first(
      metadata,
      ([key, value]) =>
        notPlain([ARTIFACT_LIMITS.metadataKey, key, of]) ??
        notPlain([ARTIFACT_LIMITS.metadataValue, value, ofEntry(key, of)], LINES),
    )
  );
}

function excessOfMetadata(metadata: Artifact['metadata'], of: string): Excess | undefined {
  const entries = Object.entries(metadata);
  return (
    over(ARTIFACT_LIMITS.metadata, jsonBytes(metadata), of) ??
    over(ARTIFACT_LIMITS.metadataEntries, entries.length, of) ??
    first(
      entries,
      ([key, value]) =>
        tooLong([ARTIFACT_LIMITS.metadataKey, key, of]) ??
        tooLong([ARTIFACT_LIMITS.metadataValue, value, ofEntry(key, of)]),
    )
  );
}

export const excessOfTrigger = (trigger: Trigger): Excess | undefined => first(textsOfTrigger(trigger), tooLong);

const textsOfTrigger = ({ actor, key, reason, parent, startedBy, permitted }: Trigger): Given[] => [
  [REQUEST_LIMITS.actor, actor],
  [REQUEST_LIMITS.key, key ?? undefined],
  [REQUEST_LIMITS.reason, reason],
  [REQUEST_LIMITS.word, parent],
  [REQUEST_LIMITS.actor, startedBy],
  [REQUEST_LIMITS.actor, permitted],
];

const excessOfKey = (key: string): Excess | undefined => tooLong([REQUEST_LIMITS.key, key]);

export const excessOfCommand = (command: CommandInput): Excess | undefined => first(textsOfCommand(command), tooLong);

const textsOfCommand = ({ actor, reason, permitted, vouched, ...rest }: CommandInput): Given[] => [
  [REQUEST_LIMITS.actor, actor],
  [REQUEST_LIMITS.actor, permitted],
  ...textsIn(vouched).map((group): Given => [REQUEST_LIMITS.actor, group]),
  [REQUEST_LIMITS.reason, reason],
  ...Object.values(rest).map((value): Given => [REQUEST_LIMITS.word, typeof value === 'string' ? value : undefined]),
];

/** Of a list that anybody may have sent, whatever it holds. */
export const textsIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];

/** As a sentence, where an error with its hint has no place. */
export const excessText = ({ what, size, limit }: Excess): string => `${what} is ${size}, more than ${limit}`;

export const unfitText = (unfit: Unfit): string => ('why' in unfit ? `${unfit.what} ${unfit.why}` : excessText(unfit));

/** What is over a limit by so much; `of` says of which of several. */
export function over(limit: Limit, size: number, of: string = ''): Excess | undefined {
  if (size <= limit.max) return undefined;
  const sized = (count: number) => (limit.unit === 'bytes' ? formatBytes(count) : String(count));
  return { what: `${limit.of}${of}`, size: sized(size), limit: sized(limit.max) };
}

const tooLong = ([limit, text, of]: Given): Excess | undefined =>
  text === undefined ? undefined : over(limit, textBytes(text), of);

const empty = ([limit, text, of = '']: Given): BadText | undefined =>
  text === undefined || text.trim() !== '' ? undefined : { what: `${limit.of}${of}`, why: 'is empty' };

function notPlain([limit, text, of = '']: Given, keep?: string): BadText | undefined {
  const why = text === undefined ? undefined : whyNotPlain(text, keep);
  return why === undefined ? undefined : { what: `${limit.of}${of}`, why };
}

/** A name in a message, which may be what is wrong. */
const short = (name: string): string => writtenOut(name.length > 63 ? `${name.slice(0, 60)}…` : name);

function first<T, R>(list: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}
