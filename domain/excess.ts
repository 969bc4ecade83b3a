import type { Artifact } from './artifact';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, type Limit } from './limits';
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

/** Checked at every door, and again by the workflow, which anybody can talk to. Undefined when all is within its limits. */
export function excessOfArtifacts(artifacts: readonly Artifact[]): Excess | undefined {
  return (
    over(REQUEST_LIMITS.artifacts, artifacts.length) ??
    first(artifacts, excessOfArtifact) ??
    over(REQUEST_LIMITS.artifactsTogether, jsonBytes(artifacts))
  );
}

export function excessOfArtifact(artifact: Artifact): Excess | undefined {
  const { name, kind, version, digest, uri, producedBy, builtFrom, metadata } = artifact;
  const fields: [Limit, string | undefined][] = [
    [ARTIFACT_LIMITS.name, name],
    [ARTIFACT_LIMITS.kind, kind],
    [ARTIFACT_LIMITS.version, version],
    [ARTIFACT_LIMITS.digest, digest],
    [ARTIFACT_LIMITS.uri, uri],
    [ARTIFACT_LIMITS.producedBy, producedBy],
    [ARTIFACT_LIMITS.repository, builtFrom?.repository],
    [ARTIFACT_LIMITS.revision, builtFrom?.revision],
    [ARTIFACT_LIMITS.target, builtFrom?.target],
  ];
  const of = ` of the artifact ${short(name)}`;
  return (
    first(fields, ([limit, text]) => tooLong(limit, text, of)) ??
    excessOfMetadata(metadata, of) ??
    over(ARTIFACT_LIMITS.whole, jsonBytes(artifact), `: ${short(name)}`)
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
        tooLong(ARTIFACT_LIMITS.metadataKey, key, of) ??
        tooLong(ARTIFACT_LIMITS.metadataValue, value, `, ${short(key)},${of}`),
    )
  );
}

export const excessOfTrigger = ({ actor, key, reason, parent }: Trigger): Excess | undefined =>
  tooLong(REQUEST_LIMITS.actor, actor) ??
  tooLong(REQUEST_LIMITS.key, key ?? undefined) ??
  tooLong(REQUEST_LIMITS.reason, reason) ??
  tooLong(REQUEST_LIMITS.word, parent);

export const excessOfKey = (key: string): Excess | undefined => tooLong(REQUEST_LIMITS.key, key);

export const excessOfCommand = ({ actor, reason, ...rest }: CommandInput): Excess | undefined =>
  tooLong(REQUEST_LIMITS.actor, actor) ??
  tooLong(REQUEST_LIMITS.reason, reason) ??
  first(Object.values(rest), (value) => tooLong(REQUEST_LIMITS.word, typeof value === 'string' ? value : undefined));

/** As a sentence, where an error with its hint has no place. */
export const excessText = ({ what, size, limit }: Excess): string => `${what} is ${size}, more than ${limit}`;

/** What is over a limit by so much; `of` says of which of several. */
export function over(limit: Limit, size: number, of: string = ''): Excess | undefined {
  if (size <= limit.max) return undefined;
  const sized = (count: number) => (limit.unit === 'bytes' ? formatBytes(count) : String(count));
  return { what: `${limit.of}${of}`, size: sized(size), limit: sized(limit.max) };
}

const tooLong = (limit: Limit, text: string | undefined, of?: string): Excess | undefined =>
  text === undefined ? undefined : over(limit, textBytes(text), of);

/** A name in a message, which may be what is too long. */
const short = (name: string): string => (name.length > 63 ? `${name.slice(0, 60)}…` : name);

function first<T>(list: readonly T[], find: (item: T) => Excess | undefined): Excess | undefined {
  for (const item of list) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}
