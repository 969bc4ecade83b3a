import { isFields, componentName, objectsIn, othersIn, textIn, type JsonFields } from './fields';
import type { SbomComponent, Sbom } from './sbom';

export const isCycloneDx = ({ bomFormat }: JsonFields): boolean => bomFormat === 'CycloneDX';

/** CycloneDX 1 in JSON. A nested component counts like one on the top level. */
export function fromCycloneDx({ metadata, components, dependencies }: JsonFields): Sbom {
  const about = isFields(metadata) ? objectsIn([metadata['component']]) : [];
  const found: SbomComponent[] = [];
  let unread = othersIn(components);
  const all = [...about, ...objectsIn(components)];
  // The list grows during the loop, to cover components nested to any depth.
  for (const one of all) {
    for (const inner of objectsIn(one['components'])) all.push(inner);
    unread += othersIn(one['components']);
    found.push(componentFrom(one));
  }
  const edges = objectsIn(dependencies).flatMap(({ ref, dependsOn }) =>
    typeof ref === 'string' && Array.isArray(dependsOn)
      ? [[ref, dependsOn.filter((one) => typeof one === 'string')] as const]
      : [],
  );
  const root = about[0] ? (getComponentRef(about[0]) ?? null) : null;
  return { root, components: found, unread, dependencies: new Map(edges) };
}

/** For a component without a package URL, by its type; a component without a type may be a package. */
const CYCLONE_PACKAGES = ['library', 'framework', undefined];
/** No advisory names a component of these types. */
const CYCLONE_CONTENTS = ['file', 'data'];

function componentFrom(component: JsonFields): SbomComponent {
  const { type, group, name, version, purl } = component;
  const [own, of] = [textIn(name), textIn(group)];
  const whole = own === undefined ? [] : [of === undefined ? own : `${of}/${own}`];
  return {
    ref: getComponentRef(component),
    name: componentName(name, version),
    purls: textIn(purl) === undefined ? [] : [String(purl)],
    isContent: CYCLONE_CONTENTS.includes(textIn(type) ?? ''),
    packageNames: CYCLONE_PACKAGES.includes(textIn(type)) ? whole : [],
    version: textIn(version),
  };
}

const getComponentRef = (component: JsonFields): string | undefined =>
  textIn(component['bom-ref']) ?? textIn(component['purl']);
