import type { Artifact } from '../artifact';
import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';

/**
 * A new version that a webhook announces, for every subscription of `finder` whose `with` describes the same source.
 * The finder itself must interpret a `with` in the same way when it is polled.
 */
export interface FinderEvent {
  readonly finder: string;
  /** The properties of the source, in the terms of `with`; several values if the source has several names. */
  readonly about: Readonly<Record<string, string | readonly string[]>>;
  /** Keys of `about` whose values are compared without regard to case, as forges compare names of repositories. */
  readonly ignoresCase?: readonly string[];
  /** Each subscriber has its own name for it. */
  readonly artifact: Omit<Artifact, 'name'>;
}

/** The artifacts that are submitted to one pipeline at once. */
export interface PipelineSubmission {
  readonly pipeline: string;
  readonly artifacts: readonly Artifact[];
}

/**
 * The pipelines concerned by an event, each with the artifacts under its own names, in the order of the subscribers.
 */
export function findConcernedPipelines(
  event: FinderEvent,
  subscribers: readonly PipelineSubscriptions[],
): PipelineSubmission[] {
  return subscribers.flatMap(({ pipeline, subscriptions }) => {
    const wanted = subscriptions.filter((subscription) => matchesWanted(event, subscription.with));
    const artifacts = wanted.map(({ artifact }): Artifact => ({ ...event.artifact, name: artifact }));
    return artifacts.length > 0 ? [{ pipeline, artifacts }] : [];
  });
}

/**
 * Whether a `with` describes the source of an event. Every entry must hold, and an entry that the event does not mention does not
 * hold. It is better that the finder finds a version a little later than that an unwanted release starts. An empty `with`
 * describes no source, so a pipeline cannot be concerned by default.
 */
export function matchesWanted(
  event: Pick<FinderEvent, 'about' | 'ignoresCase'>,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  const entries = Object.entries(wanted);
  return entries.length > 0 && entries.every(([key, value]) => entryHolds(event, key, value));
}

function entryHolds(
  { about, ignoresCase = [] }: Pick<FinderEvent, 'about' | 'ignoresCase'>,
  key: string,
  value: unknown,
): boolean {
  if (typeof value !== 'string') return false;
  const same = (text: string): string => (ignoresCase.includes(key) ? text.toLowerCase() : text);
  const given = Object.hasOwn(about, key) ? [about[key] ?? []].flat() : [];
  return given.some((name) => same(name) === same(value));
}
