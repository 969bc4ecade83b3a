import { componentName, objectsIn, othersIn, textIn, type JsonFields } from './fields';
import type { SbomComponent, Sbom } from './sbom';

export const isSpdx = ({ spdxVersion }: JsonFields): boolean =>
  typeof spdxVersion === 'string' && spdxVersion.startsWith('SPDX-2.');

/** SPDX 2 in JSON. */
export function fromSpdx({ packages, relationships, documentDescribes }: JsonFields): Sbom {
  const components = objectsIn(packages).map(
    ({ SPDXID, name, versionInfo, externalRefs, primaryPackagePurpose: purpose }): SbomComponent => ({
      ref: textIn(SPDXID),
      name: componentName(name, versionInfo),
      purls: listPurls(externalRefs),
      isContent: textIn(purpose) === 'FILE',
      packageNames: SPDX_PACKAGES.includes(textIn(purpose)) && textIn(name) !== undefined ? [String(name)] : [],
      version: textIn(versionInfo),
    }),
  );
  const dependencies = new Map<string, string[]>();
  const described = Array.isArray(documentDescribes) ? documentDescribes.map(textIn) : [];
  for (const { spdxElementId, relatedSpdxElement, relationshipType } of objectsIn(relationships)) {
    const [from, to, type] = [textIn(spdxElementId), textIn(relatedSpdxElement), textIn(relationshipType)];
    if (from === undefined || to === undefined || type === undefined) continue;
    if (type === 'DESCRIBES') described.push(to);
    else if (FORWARDS.test(type)) addDependency(dependencies, from, to);
    else if (BACKWARDS.test(type)) addDependency(dependencies, to, from);
  }
  return { root: described[0] ?? null, components, unread: othersIn(packages), dependencies };
}

/** Purposes with which a package without a package URL may be one that an advisory names; most packages state none. */
const SPDX_PACKAGES = ['LIBRARY', 'FRAMEWORK', undefined];

const FORWARDS = /^(DEPENDS_ON|CONTAINS|HAS_PREREQUISITE)$/;
/** Also matches `DEV_DEPENDENCY_OF` and similar types. */
const BACKWARDS = /(DEPENDENCY_OF|CONTAINED_BY|PREREQUISITE_FOR)$/;

function addDependency(dependencies: Map<string, string[]>, from: string, to: string): void {
  const known = dependencies.get(from);
  if (known === undefined) dependencies.set(from, [to]);
  else known.push(to);
}

const listPurls = (externalRefs: unknown): readonly string[] =>
  objectsIn(externalRefs).flatMap(({ referenceType, referenceLocator }) =>
    referenceType === 'purl' ? (textIn(referenceLocator) ?? []) : [],
  );
