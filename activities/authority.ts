import type { AccessDecision } from '../domain/access/decide';
import type { PlatformFacts } from '../domain/access/platform';
import type { ProtectionSubject } from '../domain/access/protection';
import { findUnsigned, wantsSigned } from '../domain/access/signatureRule';
import { formatIdentity, type Artifact } from '../domain/artifact';
import { conveyorError } from '../domain/errors';
import type { Principal } from '../domain/principals';

/** The owners on whose behalf an activity acts. */
export interface Authority {
  /** The present owners of the pipeline; left out by questions that change nothing. */
  readonly owners?: readonly Principal[];
  /** It restores an earlier state, which needs no permission. */
  readonly back?: true;
  /** It restores imported records, which no worker has verified. */
  readonly imported?: true;
  /** An emergency of an admin, according to the door that admitted it: only these are exempt from protection. */
  readonly byAdmin?: true;
}

/** The present configuration; missing if there is none, as in tests. */
export type ReadPlatform = () => PlatformFacts;

/**
 * Checks the rules again at the moment of the action, for a pipeline that was applied before a rule, or around every
 * door.
 * @throws ConveyorError `not-permitted`
 */
export function requireAllowed(
  platform: ReadPlatform | undefined,
  { owners, back, imported }: Authority,
  pipeline: string,
  decide: (facts: PlatformFacts, owners: readonly Principal[] | undefined) => AccessDecision,
): void {
  if (platform === undefined || (back && !imported)) return;
  const decision = decide(platform(), owners);
  if (!decision.allowed) throw conveyorError('not-permitted', { actor: pipeline, pipeline, why: decision.why });
}

/** Checked anew before each deploy updates anything, for artifacts of every origin; never for a return to an earlier version. */
export function whetherSigned(
  platform: ReadPlatform | undefined,
  { pipeline, back, imported, byAdmin }: Authority & { readonly pipeline: string },
  artifacts: readonly Artifact[],
  units: Pick<ProtectionSubject, 'holds' | 'had'> = {},
): { readonly refused: string } | { /** For the record. */ readonly signed?: string } {
  const facts = platform?.();
  const concerned = { pipeline, ...units };
  if (facts === undefined || (back && !imported) || !wantsSigned(facts, concerned)) return {};
  const lacking = findUnsigned(facts, concerned, artifacts);
  if (lacking !== undefined)
    return byAdmin
      ? { signed: `an emergency of an admin goes past ${lacking.message}` }
      : { refused: `${lacking.message}; ${lacking.hint}` };
  const by = (one: Artifact): string => facts.signers?.(one, pipeline).by.join(', ') ?? '';
  return { signed: artifacts.map((one) => `${formatIdentity(one)} is signed with ${by(one)}`).join('; ') };
}
