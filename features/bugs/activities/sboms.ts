import { formatIdentity, type Artifact } from '../../../domain/artifact';
import type { Advisory } from '../domain/advisory';
import { pathText, type ArtifactHit } from '../domain/hits';
import { readSbom } from '../domain/sbom/reader';
import { chainToAffected, countNamedOnly, type Sbom } from '../domain/sbom/sbom';
import { ConveyorError, conveyorError } from '../../../domain/errors';
import type { ExtensionRef } from '../../../settings/extensions';
import { downloadSbom } from './download';
import { SEMANTIC_ORDER } from '../../../sdk/versions';
import type { Registry } from '../../../settings/registry';
import { concurrencyGate } from '../../../sdk/concurrency';
import type { Fetch } from '../../../sdk/request';
import { atOnce } from '../../../activities/atOnce';

/** Reads the components of artifacts from their SBOMs. */
export interface SbomPorts {
  readonly registry: Pick<Registry, 'extensions'>;
  readonly fetch?: Fetch;
}

export const listSbomStores = ({ registry }: SbomPorts): readonly ExtensionRef[] =>
  registry.extensions.filter(({ holdsSboms }) => holdsSboms === true);

/** The place of an artifact's SBOM in a store; undefined if it names none. */
export const getSbomPlace = ({ metadata }: Pick<Artifact, 'metadata'>): string | undefined => metadata['sbom'];

/** The number of SBOMs that a worker has in memory at the same time; other requests wait. */
const SBOMS_AT_ONCE = 4;
const turn = concurrencyGate(SBOMS_AT_ONCE);

/** For each affected SBOM, by its place: the dependency chain from the artifact to the affected package. */
type Chains = ReadonlyMap<string, string>;

/** The effects of advisories on some artifacts. */
export interface SbomHits {
  readonly chains: ReadonlyMap<Advisory, Chains>;
  /** The reasons why SBOMs cannot be read, by their places. */
  readonly unreadable: ReadonlyMap<string, ConveyorError>;
  /** The number of packages that are compared only by name. */
  readonly namedOnly: number;
}

/**
 * Reads each SBOM once, compares it with all advisories, and drops it. @throws ConveyorError `extension-unavailable` while a store does not answer
 */
export async function searchSboms(
  ports: SbomPorts,
  advisories: readonly Advisory[],
  artifacts: readonly Artifact[],
): Promise<SbomHits> {
  const places = new Set(artifacts.flatMap((artifact) => getSbomPlace(artifact) ?? []));
  const chains = new Map(advisories.map((advisory) => [advisory, new Map<string, string>()]));
  const unreadable = new Map<string, ConveyorError>();
  let namedOnly = 0;
  const look = async (place: string): Promise<void> => {
    try {
      const sbom = await fetchSbom(ports, place);
      namedOnly += countNamedOnly(sbom);
      for (const [advisory, found] of chains) {
        const chain = chainToAffected(sbom, advisory, SEMANTIC_ORDER);
        if (chain !== undefined) found.set(place, pathText(chain));
      }
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.retryable) throw error;
      unreadable.set(place, error);
    }
  };
  await atOnce(SBOMS_AT_ONCE, [...places], (place) => turn(() => look(place)));
  return { chains, unreadable, namedOnly };
}

/** The first artifact with a component that an advisory affects; undefined if there is none. */
export function hitIn(
  { chains }: Pick<SbomHits, 'chains'>,
  advisory: Advisory,
  artifacts: readonly Artifact[],
): ArtifactHit | undefined {
  for (const artifact of artifacts) {
    const path = chains.get(advisory)?.get(getSbomPlace(artifact) ?? '');
    if (path !== undefined) return { artifact: formatIdentity(artifact), path };
  }
  return undefined;
}

/** Reads it from the first store that has it. @throws ConveyorError `sbom-unreadable`, or `extension-unavailable` */
async function fetchSbom(ports: SbomPorts, sbom: string): Promise<Sbom> {
  const unreadable = (why: string): ConveyorError => conveyorError('sbom-unreadable', { sbom, why });
  const path = pathIn(sbom);
  if (path === undefined) throw unreadable('it has to be a path in a store of SBOMs, such as kv/12.cdx.json');
  for (const store of listSbomStores(ports)) {
    const got = await downloadSbom(ports.fetch, store, path);
    if (got === 'missing') continue;
    if ('refused' in got) throw unreadable(got.refused);
    const read = readSbom(got.text);
    if ('problem' in read) throw unreadable(read.problem);
    return read.sbom;
  }
  throw unreadable('no store of SBOMs has it');
}

/** The path inside a store. It never leads out of the store, because the input may be hostile. */
function pathIn(sbom: string): string | undefined {
  const parts = sbom.split('/');
  const isBelow = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  return isBelow ? parts.map(encodeURIComponent).join('/') : undefined;
}
