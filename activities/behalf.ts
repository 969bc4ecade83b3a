import type { AccessDecision } from '../domain/access/decide';
import type { PlatformFacts } from '../domain/access/platform';
import type { Concerned } from '../domain/access/protection';
import { unsigned, wantsSigned } from '../domain/access/signed';
import { identityOf, type Artifact } from '../domain/artifact';
import { conveyorError } from '../domain/errors';
import type { Principal } from '../domain/principals';

/** For whom an activity touches the world; where it came from a workflow that began before this was said, nobody knows. */
export interface Behalf {
  /** Of the pipeline, as they are now. */
  readonly owners?: readonly Principal[];
  /** It brings back what was before, which nobody has to be allowed. */
  readonly back?: true;
  /** No worker saw what it brings back. */
  readonly imported?: true;
  /** An emergency of an admin, as its door said: protection keeps nobody else. */
  readonly byAdmin?: true;
}

/** The configuration as it is now; missing where there is none, as in tests. */
export type ReadPlatform = () => PlatformFacts;

/**
 * A pipeline that was applied before a rule, or past every door, is held against the rules where it touches the world.
 * @throws ConveyorError `not-permitted`
 */
export function requireAllowed(
  platform: ReadPlatform | undefined,
  { owners, back, imported }: Behalf,
  pipeline: string,
  decide: (facts: PlatformFacts, owners: readonly Principal[] | undefined) => AccessDecision,
): void {
  if (platform === undefined || (back && !imported)) return;
  const decision = decide(platform(), owners);
  if (!decision.allowed) throw conveyorError('not-permitted', { actor: pipeline, pipeline, why: decision.why });
}

/** Asked anew before each deploy touches anything, wherever its artifacts came from; never of what goes back to what ran. */
export function whetherSigned(
  platform: ReadPlatform | undefined,
  { pipeline, back, imported, byAdmin }: Behalf & { readonly pipeline: string },
  artifacts: readonly Artifact[],
  units: Pick<Concerned, 'holds' | 'had'> = {},
): { readonly refused: string } | { /** To be recorded. */ readonly signed?: string } {
  const facts = platform?.();
  const concerned = { pipeline, ...units };
  if (facts === undefined || (back && !imported) || !wantsSigned(facts, concerned)) return {};
  const lacking = unsigned(facts, concerned, artifacts);
  if (lacking !== undefined)
    return byAdmin
      ? { signed: `an emergency of an admin goes past ${lacking.message}` }
      : { refused: `${lacking.message}; ${lacking.hint}` };
  const by = (one: Artifact): string => facts.signers?.(one, pipeline).by.join(', ') ?? '';
  return { signed: artifacts.map((one) => `${identityOf(one)} is signed with ${by(one)}`).join('; ') };
}
