import { formatIdentity, type Artifact } from '../artifact';
import { conveyorError, type ConveyorError } from '../errors';
import { cutText } from '../size';
import type { PipelineSpec } from '../spec/pipeline';
import type { PlatformFacts, ProtectionRule, Signers } from './platform';
import { findProtectingRules, type ProtectionSubject } from './protection';

/** Whether any rule requires signatures on a pipeline's artifacts. */
export const wantsSigned = ({ policy }: PlatformFacts, of: ProtectionSubject): boolean =>
  policy !== null && findProtectingRules(policy, of).some(({ rule }) => rule.signed !== null);

/**
 * Why a pipeline must not deploy these artifacts: too few keys of a rule have signed exactly this version of one.
 * @returns `unsigned`; undefined if nothing forbids it
 */
export function findUnsigned(
  facts: PlatformFacts,
  of: ProtectionSubject,
  artifacts: readonly Artifact[],
): ConveyorError | undefined {
  if (facts.policy === null) return undefined;
  const { pipeline } = of;
  for (const { place, rule } of findProtectingRules(facts.policy, of)) {
    const { signed } = rule;
    if (signed === null) continue;
    for (const artifact of artifacts) {
      const why = lacks(signed, facts.signers?.(artifact, pipeline) ?? NO_SIGNERS);
      if (why === undefined) continue;
      return conveyorError('unsigned', {
        place,
        pipeline,
        name: artifact.name,
        artifact: formatIdentity(artifact),
        why,
      });
    }
  }
  return undefined;
}

/** The given artifacts that deploys and canaries use directly; outputs of actions are known only once made. */
export function pickDeployedInputs({ actions }: PipelineSpec, given: readonly Artifact[]): readonly Artifact[] {
  const all = Object.values(actions);
  const made = new Set(all.flatMap(({ outputs }) => outputs));
  const deployed = new Set(all.flatMap(({ type, inputs }) => (type === 'deploy' || type === 'canary' ? inputs : [])));
  return given.filter(({ name }) => deployed.has(name) && !made.has(name));
}

const NO_SIGNERS: Signers = { by: [], not: ['the platform has no keys'] };

/** `it takes 2 of the keys ci, release and has ci; metadata.attestation.2: …` */
function lacks({ by, count }: NonNullable<ProtectionRule['signed']>, signers: Signers): string | undefined {
  // A key that a rule names twice is one key.
  const have = [...new Set(by)].filter((name) => signers.by.includes(name));
  if (have.length >= count) return undefined;
  const keys = by.length === 1 ? `the key ${by.join()}` : `${count} of the keys ${by.join(', ')}`;
  const others = signers.by.filter((name) => !by.includes(name));
  return [
    `it takes a signature of ${keys} and has ${have.length === 0 ? 'none' : `that of ${have.join(', ')}`}`,
    ...(others.length > 0 ? [`${others.join(', ')} counts for nothing here`] : []),
    ...signers.not.slice(0, MOST_SHOWN).map((problem) => cutText(problem, MAX_PROBLEM_CHARS)),
    ...(signers.not.length > MOST_SHOWN ? [`and ${signers.not.length - MOST_SHOWN} more`] : []),
  ].join('; ');
}

/** The submitter may put as many as fit into an artifact's metadata. */
const MOST_SHOWN = 3;
const MAX_PROBLEM_CHARS = 300;
