import type { Decision } from '../domain/access/decide';
import type { PlatformFacts } from '../domain/access/platform';
import { conveyorError } from '../domain/errors';
import type { Principal } from '../domain/principals';

/** For whom an activity touches the world; where it came from a workflow that began before this was said, nobody knows. */
export interface Behalf {
  /** Of the pipeline, as they are now. */
  readonly owners?: readonly Principal[];
  /** It brings back what was before, which nobody has to be allowed. */
  readonly back?: true;
}

/** The configuration as it is now; missing where there is none, as in tests. */
export type ReadPlatform = () => PlatformFacts;

/**
 * A pipeline that was applied before a rule, or past every door, is held against the rules where it touches the world.
 * @throws ConveyorError `not-permitted`
 */
export function requireAllowed(
  platform: ReadPlatform | undefined,
  { owners, back }: Behalf,
  pipeline: string,
  decide: (facts: PlatformFacts, owners: readonly Principal[] | undefined) => Decision,
): void {
  if (platform === undefined || back) return;
  const decision = decide(platform(), owners);
  if (!decision.allowed) throw conveyorError('not-permitted', { actor: pipeline, pipeline, why: decision.why });
}
