import type { Artifact } from './artifact';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, type Limit } from './limits';
import { whyNotOrdered } from './pipeline/order';
import { LINES, whyNotPlain, escapeUnsafe } from './plainText';
import { jsonBytes, sizeAndLimit, textBytes } from './size';
import type { BadText, Excess, InvalidInput } from './unfit';
import type { CommandInput } from './verbs';
import type { Trigger } from './views';

/** Undefined if nothing is wrong. */
export const unfitArtifacts = (artifacts: readonly Artifact[]): InvalidInput | undefined =>
  excessOfArtifacts(artifacts) ?? firstFound(artifacts, badTextIn);

export const unfitArtifact = (artifact: Artifact): InvalidInput | undefined =>
  excessOfArtifact(artifact) ?? badTextIn(artifact);

export const unfitTrigger = (trigger: Trigger): InvalidInput | undefined =>
  excessOfTrigger(trigger) ?? firstFound(textsOfTrigger(trigger), (given) => notPlain(given));

export const unfitKey = (key: string): InvalidInput | undefined =>
  excessOfKey(key) ?? notPlain([REQUEST_LIMITS.key, key]);

export const unfitCommand = (command: CommandInput): InvalidInput | undefined =>
  excessOfCommand(command) ?? firstFound(textsOfCommand(command), (given) => notPlain(given));

/**
 * Checked at every entry point, and again by the workflow, which also gets messages by other paths. Undefined if
 * everything is within its limits.
 */
export function excessOfArtifacts(artifacts: readonly Artifact[]): Excess | undefined {
  return (
    over(REQUEST_LIMITS.artifacts, artifacts.length) ??
    firstFound(artifacts, excessOfArtifact) ??
    over(REQUEST_LIMITS.artifactsTogether, jsonBytes(artifacts))
  );
}

function excessOfArtifact(artifact: Artifact): Excess | undefined {
  return (
    firstFound(artifactTexts(artifact), excessOfText) ??
    excessOfMetadata(artifact.metadata, ofArtifact(artifact)) ??
    over(ARTIFACT_LIMITS.whole, jsonBytes(artifact), `: ${shortName(artifact.name)}`)
  );
}

/** A text from outside, the name of its field, and the owner of the field. */
type LimitedText = readonly [limit: Limit, text: string | undefined, of?: string];

function artifactTexts(artifact: Artifact): LimitedText[] {
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

const ofArtifact = ({ name }: Pick<Artifact, 'name'>): string => ` of the artifact ${shortName(name)}`;

const ofEntry = (key: string, of: string): string => `, ${shortName(key)},${of}`;

function badTextIn(artifact: Artifact): BadText | undefined {
  const of = ofArtifact(artifact);
  const metadata = Object.entries(artifact.metadata);
  return (
    firstFound(artifactTexts(artifact), (given) => emptyText(given) ?? notPlain(given)) ??
    firstFound(metadata, ([key]) => emptyText([ARTIFACT_LIMITS.metadataKey, key, of])) ??
    firstFound(
      metadata,
      ([key, value]) =>
        notPlain([ARTIFACT_LIMITS.metadataKey, key, of]) ??
        notPlain([ARTIFACT_LIMITS.metadataValue, value, ofEntry(key, of)], LINES) ??
        notOrdered(key, value, of),
    )
  );
}

function notOrdered(key: string, value: string, of: string): BadText | undefined {
  const why = whyNotOrdered(key, value);
  return why === undefined ? undefined : { what: `${ARTIFACT_LIMITS.metadataValue.of}${ofEntry(key, of)}`, why };
}

function excessOfMetadata(metadata: Artifact['metadata'], of: string): Excess | undefined {
  const entries = Object.entries(metadata);
  return (
    over(ARTIFACT_LIMITS.metadata, jsonBytes(metadata), of) ??
    over(ARTIFACT_LIMITS.metadataEntries, entries.length, of) ??
    firstFound(
      entries,
      ([key, value]) =>
        excessOfText([ARTIFACT_LIMITS.metadataKey, key, of]) ??
        excessOfText([ARTIFACT_LIMITS.metadataValue, value, ofEntry(key, of)]),
    )
  );
}

export const excessOfTrigger = (trigger: Trigger): Excess | undefined =>
  firstFound(textsOfTrigger(trigger), excessOfText);

const textsOfTrigger = ({ actor, key, reason, parent, startedBy, permitted }: Trigger): LimitedText[] => [
  [REQUEST_LIMITS.actor, actor],
  [REQUEST_LIMITS.key, key ?? undefined],
  [REQUEST_LIMITS.reason, reason],
  [REQUEST_LIMITS.word, parent],
  [REQUEST_LIMITS.actor, startedBy],
  [REQUEST_LIMITS.actor, permitted],
];

const excessOfKey = (key: string): Excess | undefined => excessOfText([REQUEST_LIMITS.key, key]);

export const excessOfCommand = (command: CommandInput): Excess | undefined =>
  firstFound(textsOfCommand(command), excessOfText);

const textsOfCommand = ({ actor, reason, permitted, vouched, ...rest }: CommandInput): LimitedText[] => [
  [REQUEST_LIMITS.actor, actor],
  [REQUEST_LIMITS.actor, permitted],
  ...stringsIn(vouched).map((group): LimitedText => [REQUEST_LIMITS.actor, group]),
  [REQUEST_LIMITS.reason, reason],
  ...Object.values(rest).map((value): LimitedText => [
    REQUEST_LIMITS.word,
    typeof value === 'string' ? value : undefined,
  ]),
];

/** The strings in a list from an untrusted sender, which may contain anything. */
export const stringsIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : [];

/** A sentence, for places without room for an error and its hint. */
export const excessText = ({ what, size, limit }: Excess): string => `${what} is ${size}, more than ${limit}`;

export const unfitText = (unfit: InvalidInput): string =>
  'why' in unfit ? `${unfit.what} ${unfit.why}` : excessText(unfit);

/** The excess over a limit; `of` tells which of several things has it. */
export function over(limit: Limit, size: number, of: string = ''): Excess | undefined {
  if (size <= limit.max) return undefined;
  const numbers = { size: String(size), limit: String(limit.max) };
  return { what: `${limit.of}${of}`, ...(limit.unit === 'bytes' ? sizeAndLimit(size, limit.max) : numbers) };
}

const excessOfText = ([limit, text, of]: LimitedText): Excess | undefined =>
  text === undefined ? undefined : over(limit, textBytes(text), of);

const emptyText = ([limit, text, of = '']: LimitedText): BadText | undefined =>
  text === undefined || text.trim() !== '' ? undefined : { what: `${limit.of}${of}`, why: 'is empty' };

function notPlain([limit, text, of = '']: LimitedText, keep?: string): BadText | undefined {
  const why = text === undefined ? undefined : whyNotPlain(text, keep);
  return why === undefined ? undefined : { what: `${limit.of}${of}`, why };
}

/** A name for a message; the name itself may be at fault. */
const shortName = (name: string): string => escapeUnsafe(name.length > 63 ? `${name.slice(0, 60)}…` : name);

function firstFound<T, R>(list: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}
