import { formatIdentity, type Artifact } from '../artifact';
import type { DeployOutcome, HistoryRow, Trigger } from '../views';
import type { Refusal } from './refusal';
import { isBadVersion, isKnownBad, type ActiveRelease, type KnownBad, type PipelineState } from './state';

/** One version with two digests. */
interface Contradiction {
  readonly known: Artifact;
  /** How the pipeline knows the artifact, in words. */
  readonly from: string;
}

/**
 * Whether some deploy has this artifact as its only input. Then its units report the version of this artifact alone, and a revert sends nothing else.
 * So no later step can distinguish two sets of bytes with one version. The version of several artifacts contains their digests (`combineVersions`).
 */
const isDeployedAlone = ({ spec: { actions } }: PipelineState, { name }: Artifact): boolean =>
  Object.values(actions).some(
    ({ type, inputs }) => (type === 'deploy' || type === 'canary') && inputs.length === 1 && inputs[0] === name,
  );

/** The known-bad entry for an artifact, under any digest if a deploy takes it alone. */
export const findKnownBad = (state: PipelineState, artifact: Artifact): KnownBad | undefined =>
  (isDeployedAlone(state, artifact) ? isBadVersion : isKnownBad)(state, artifact);

/**
 * Refuses a version that is deployed alone and that the pipeline knows with another digest. A person may correct a digest that was not deployed yet;
 * a finder, a webhook or a parent may not.
 */
export function refuseOtherDigest(
  state: PipelineState,
  artifacts: readonly Artifact[],
  { kind }: Trigger,
): Refusal | undefined {
  const byPerson = kind !== 'finder' && kind !== 'webhook' && kind !== 'parent';
  const known = [...listDeployedArtifacts(state), ...(byPerson ? [] : listNamedArtifacts(state))];
  for (const artifact of artifacts.filter((one) => isDeployedAlone(state, one))) {
    const other = known.find((one) => contradicts(one.known, artifact));
    if (other === undefined) continue;
    const names = [formatIdentity(artifact), other.known.digest ?? '', other.from];
    const message = `${names[0]}: ${other.from} has this version with another digest, ${names[1]}`;
    return { code: 'digest-changed', message, names };
  }
  return undefined;
}

/** Whether they are one version with two digests. Digests of different algorithms cannot be compared. */
function contradicts(known: Artifact, { name, version, digest = '' }: Artifact): boolean {
  if (known.name !== name || known.version !== version || !known.digest || digest === '') return false;
  const [one, other] = [known.digest.toLowerCase(), digest.toLowerCase()];
  return one !== other && algorithmIn(one) === algorithmIn(other);
}

const algorithmIn = (digest: string): string => (digest.includes(':') ? (digest.split(':', 1)[0] ?? '') : '');

/** Artifacts that were deployed, or may be right now. */
function listDeployedArtifacts({ active, good, history }: PipelineState): Contradiction[] {
  return [
    ...active.filter(hasBegun).flatMap(({ number, artifacts }) => fromRelease(number, artifacts)),
    ...Object.values(good).flatMap((deploys) =>
      deploys.flatMap(({ release, artifacts }) => fromRelease(release, artifacts)),
    ),
    ...history.filter(mayHaveDeployed).flatMap(({ number, artifacts }) => fromRelease(number, artifacts)),
  ];
}

const fromRelease = (number: number, artifacts: readonly Artifact[]): Contradiction[] =>
  artifacts.map((known) => ({ known, from: `release ${number}` }));

/** Artifacts that were named earlier but are not deployed yet. */
const listNamedArtifacts = ({ active, inputs }: PipelineState): Contradiction[] => [
  ...active.flatMap(({ number, artifacts }) => fromRelease(number, artifacts)),
  ...Object.values(inputs).map((known) => ({ known, from: 'the latest input' })),
];

const hasBegun = ({ deploying, booked = {} }: ActiveRelease): boolean =>
  deploying === true || Object.keys(booked).length > 0;

/** A deploy that failed or was cancelled may have been refused for a mistaken digest, before it updated anything. */
const mayHaveDeployed = ({ state, deploys }: HistoryRow): boolean =>
  state === 'succeeded' || deploys.some(({ outcome, progress }) => UPDATED.has(outcome) || progress !== undefined);

const UPDATED: ReadonlySet<DeployOutcome> = new Set(['succeeded', 'reverted', 'revert-failed']);
