import { identityOf, type Artifact } from '../domain/artifact';
import type { Advisory } from '../domain/bugs/advisory';
import { pathText, type ArtifactHit } from '../domain/bugs/hits';
import { readSbom } from '../domain/bugs/sbom/read';
import { chainToAffected, countNamedOnly, type Sbom } from '../domain/bugs/sbom/sbom';
import { ConveyorError, conveyorError } from '../domain/errors';
import type { ExtensionRef } from '../platform/extensions';
import { downloadSbom } from '../platform/osv/download';
import { SEMANTIC_ORDER } from '../platform/osv/versions';
import type { Registry } from '../platform/registry';
import { concurrencyGate } from '../sdk/concurrency';
import type { Fetch } from '../sdk/request';
import { atOnce } from './atOnce';

/** Reading what artifacts are made of, as their SBOMs list it. */
export interface SbomPorts {
  readonly registry: Pick<Registry, 'extensions'>;
  readonly fetch?: Fetch;
}

export const sbomStoresOf = ({ registry }: SbomPorts): readonly ExtensionRef[] =>
  registry.extensions.filter(({ holdsSboms }) => holdsSboms === true);

/** Where in a store the SBOM of an artifact is; undefined of one that names none. */
export const sbomOf = ({ metadata }: Pick<Artifact, 'metadata'>): string | undefined => metadata['sbom'];

/** So many SBOMs are in the memory of a worker at the same time, whatever asks for them; the others wait their turn. */
const SBOMS_AT_ONCE = 4;
const turn = concurrencyGate(SBOMS_AT_ONCE);

/** By the place of its SBOM, the chain by which an artifact has a package that is affected. */
type Chains = ReadonlyMap<string, string>;

/** What advisories affect in some artifacts. */
export interface SbomHits {
  readonly chains: ReadonlyMap<Advisory, Chains>;
  /** Why SBOMs cannot be read, by their places. */
  readonly unreadable: ReadonlyMap<string, ConveyorError>;
  /** How many packages are compared only by name. */
  readonly namedOnly: number;
}

/** Reads each SBOM once, holds all advisories against it, and drops it. @throws ConveyorError `extension-unavailable` while a store does not answer */
export async function affectedBySboms(
  ports: SbomPorts,
  advisories: readonly Advisory[],
  artifacts: readonly Artifact[],
): Promise<SbomHits> {
  const places = new Set(artifacts.flatMap((artifact) => sbomOf(artifact) ?? []));
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

/** The first artifact that has what an advisory affects; undefined where none does. */
export function hitIn(
  { chains }: Pick<SbomHits, 'chains'>,
  advisory: Advisory,
  artifacts: readonly Artifact[],
): ArtifactHit | undefined {
  for (const artifact of artifacts) {
    const path = chains.get(advisory)?.get(sbomOf(artifact) ?? '');
    if (path !== undefined) return { artifact: identityOf(artifact), path };
  }
  return undefined;
}

/** From the first store that has it. @throws ConveyorError `sbom-unreadable`, or `extension-unavailable` */
async function fetchSbom(ports: SbomPorts, sbom: string): Promise<Sbom> {
  const unreadable = (why: string): ConveyorError => conveyorError('sbom-unreadable', { sbom, why });
  const path = pathIn(sbom);
  if (path === undefined) throw unreadable('it has to be a path in a store of SBOMs, such as kv/12.cdx.json');
  for (const store of sbomStoresOf(ports)) {
    const got = await downloadSbom(ports.fetch, store, path);
    if (got === 'missing') continue;
    if ('refused' in got) throw unreadable(got.refused);
    const read = readSbom(got.text);
    if ('problem' in read) throw unreadable(read.problem);
    return read.sbom;
  }
  throw unreadable('no store of SBOMs has it');
}

/** Never leads out of a store, whoever wrote it. */
function pathIn(sbom: string): string | undefined {
  const parts = sbom.split('/');
  const isBelow = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  return isBelow ? parts.map(encodeURIComponent).join('/') : undefined;
}
