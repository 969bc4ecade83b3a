import type { Artifact } from '../artifact';
import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';

/**
 * A new version of something, as a webhook announces it: for every subscription of `finder` whose `with` speaks
 * of the same thing. Polling asks the finder itself, and both must mean the same by a `with`.
 */
export interface FinderEvent {
  readonly finder: string;
  /** What it is about, in the words of `with`; several values where the thing goes by several names. */
  readonly about: Readonly<Record<string, string | readonly string[]>>;
  /** Keys of `about` whose values are compared without regard to case, as forges compare names of repositories. */
  readonly ignoresCase?: readonly string[];
  /** Subscribers call it by a name of their own. */
  readonly artifact: Omit<Artifact, 'name'>;
}

/** What is submitted to one pipeline at once. */
export interface Concerned {
  readonly pipeline: string;
  readonly artifacts: readonly Artifact[];
}

/** Who is concerned by an event, each with the artifacts under its own names; in the order of the subscribers. */
export function concernedPipelines(event: FinderEvent, subscribers: readonly PipelineSubscriptions[]): Concerned[] {
  return subscribers.flatMap(({ pipeline, subscriptions }) => {
    const wanted = subscriptions.filter((subscription) => matchesWanted(event, subscription.with));
    const artifacts = wanted.map(({ artifact }): Artifact => ({ ...event.artifact, name: artifact }));
    return artifacts.length > 0 ? [{ pipeline, artifacts }] : [];
  });
}

/**
 * Whether a `with` speaks of what the event is about. Every entry must hold, and an entry that the event says nothing of
 * does not: better that the finder finds it a little later than that something starts which the owner did not ask for. An
 * empty `with` speaks of nothing, so that nobody is concerned by saying nothing.
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
