import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSbom } from '../../../../features/bugs/domain/sbom/reader';
import { chainToAffected, countNamedOnly } from '../../../../features/bugs/domain/sbom/sbom';
import { SEMANTIC_ORDER } from '../../../../sdk/versions';
import { RPC_ADVISORY } from '../../../builders/bugs';

/** The chain to what the advisory affects, in an SBOM; or why it is none. */
function chainIn(value: unknown): readonly string[] | string | undefined {
  const read = readSbom(typeof value === 'string' ? value : JSON.stringify(value));
  return 'problem' in read ? read.problem : chainToAffected(read.sbom, RPC_ADVISORY, SEMANTIC_ORDER);
}

const component = (name: string, version: string, more: object = {}) => ({
  ...{ 'bom-ref': `${name}-ref`, name, version, purl: `pkg:npm/${name}@${version}` },
  ...more,
});
const cycloneDx = (rpc: object, more: object = {}) => ({
  bomFormat: 'CycloneDX',
  metadata: { component: component('shop', '12.0.0') },
  components: [component('log', '2.0.0'), rpc],
  dependencies: [
    { ref: 'shop-ref', dependsOn: ['log-ref'] },
    { ref: 'log-ref', dependsOn: ['rpc-ref'] },
  ],
  ...more,
});

test('CycloneDX says by which chain a package got in, and a version that is fixed is in no chain', () => {
  expect(chainIn(cycloneDx(component('rpc', '1.3.9')))).toEqual(['shop@12.0.0', 'log@2.0.0', 'rpc@1.3.9']);
  expect(chainIn(cycloneDx(component('rpc', '1.4.0')))).toBeUndefined();
});

test('SPDX gives the same result in each of its ways to write dependencies', () => {
  const pack = (name: string, versionInfo: string) => ({
    ...{ SPDXID: `SPDXRef-${name}`, name, versionInfo },
    externalRefs: [
      { referenceType: 'cpe23Type', referenceLocator: 'cpe' },
      { referenceType: 'purl', referenceLocator: `pkg:npm/${name}@${versionInfo}` },
    ],
  });
  const relation = (from: string, relationshipType: string, to: string) => ({
    ...{ spdxElementId: `SPDXRef-${from}`, relationshipType, relatedSpdxElement: `SPDXRef-${to}` },
  });
  const spdx = (rpc: string) => ({
    spdxVersion: 'SPDX-2.3',
    packages: [pack('shop', '12.0.0'), pack('log', '2.0.0'), pack('rpc', rpc)],
    relationships: [
      relation('DOCUMENT', 'DESCRIBES', 'shop'),
      relation('shop', 'DEPENDS_ON', 'log'),
      relation('rpc', 'DEV_DEPENDENCY_OF', 'log'),
    ],
  });
  expect(chainIn(spdx('1.0.0'))).toEqual(['shop@12.0.0', 'log@2.0.0', 'rpc@1.0.0']);
  expect(chainIn(spdx('0.9.0'))).toBeUndefined();
});

test('each package URL of a package in SPDX counts', () => {
  const refs = ['pkg:generic/vendored-rpc@1.0.0', 'pkg:npm/rpc@1.0.0'];
  const externalRefs = refs.map((referenceLocator) => ({ referenceType: 'purl', referenceLocator }));
  const packages = [{ SPDXID: 'SPDXRef-rpc', name: 'vendored-rpc', versionInfo: '1.0.0', externalRefs }];
  expect(chainIn({ spdxVersion: 'SPDX-2.3', packages, relationships: [] })).toEqual(['vendored-rpc@1.0.0']);
});

test('dependencies that go in a circle end a search as others do', () => {
  const circle = [
    { ref: 'log-ref', dependsOn: ['rpc-ref', 'log-ref'] },
    { ref: 'rpc-ref', dependsOn: ['log-ref', 'shop-ref'] },
    { ref: 'shop-ref', dependsOn: ['log-ref'] },
  ];
  expect(chainIn(cycloneDx(component('rpc', '1.0.0'), { dependencies: circle }))).toEqual(
    expect.arrayContaining(['shop@12.0.0', 'rpc@1.0.0']),
  );
});

test.each([
  ['that no dependency leads to', component('rpc', '1.0.0'), { dependencies: [] }, ['rpc@1.0.0']],
  ['inside another', component('box', '1.0.0', { components: [component('rpc', '1.0.0')] }), {}, ['shop@12.0.0', 'log@2.0.0', 'rpc@1.0.0']],
  ['whose version is not said', { ...component('rpc', ''), purl: 'pkg:npm/rpc' }, {}, ['shop@12.0.0', 'log@2.0.0', 'rpc']],
  ['without a reference', { name: 'rpc', version: '1.0.0', purl: 'pkg:npm/rpc@1.0.0' }, {}, ['rpc@1.0.0']],
  ['without a package URL', { 'bom-ref': 'rpc-ref', type: 'library', name: 'rpc', version: '1.0.0' }, {}, ['shop@12.0.0', 'log@2.0.0', 'rpc@1.0.0']],
  ['whose package URL cannot be read', { 'bom-ref': 'rpc-ref', name: 'rpc', version: '1.0.0', purl: 'rpc' }, {}, ['shop@12.0.0', 'log@2.0.0', 'rpc@1.0.0']],
  ['whose version is beside its URL', { 'bom-ref': 'rpc-ref', name: 'rpc', version: '1.0.0', purl: 'pkg:npm/rpc' }, {}, ['shop@12.0.0', 'log@2.0.0', 'rpc@1.0.0']],
  ['that the SBOM is about', component('box', '1.0.0'), { metadata: { component: component('rpc', '1.0.0') } }, ['rpc@1.0.0']],
])('a package %s is found', (_, rpc, more, chain) => {
  expect(chainIn(cycloneDx(rpc, more))).toEqual(chain);
}); // prettier-ignore

test('packages inside packages are found however deep they are', () => {
  const depth = 100_000;
  const purl = '"purl":"pkg:npm/rpc@1.0.0","name":"rpc","version":"1.0.0"';
  const text = `{"bomFormat":"CycloneDX","components":[${'{"name":"box","components":['.repeat(depth)}{${purl}}${']}'.repeat(depth)}]}`;
  expect(chainIn(text)).toEqual(['rpc@1.0.0']);
});

test.each([
  ['not json', 'it is not JSON'],
  ['', 'it is not JSON'],
  ['[]', 'it is neither CycloneDX nor SPDX 2 in JSON'],
  ['null', 'it is neither CycloneDX nor SPDX 2 in JSON'],
  ['{"bomFormat":"other"}', 'it is neither CycloneDX nor SPDX 2 in JSON'],
  ['{"bomFormat":"CycloneDX"}', 'it lists nothing'],
  ['{"bomFormat":"CycloneDX","components":{"a":1}}', 'it lists nothing'],
  ['{"spdxVersion":"SPDX-2.3","packages":[7,null,"x"]}', 'it lists nothing'],
  ['{"spdxVersion":"SPDX-3.0"}', 'it is neither CycloneDX nor SPDX 2 in JSON'],
])('%j is not an SBOM: %s', (text, problem) => {
  expect(chainIn(text)).toBe(problem);
});

test.each([
  ['whose fixed version is beside its URL', { name: 'rpc', version: '1.4.0', purl: 'pkg:npm/rpc' }],
  ['of another name, without a URL', { type: 'library', group: 'acme', name: 'rpc', version: '1.0.0' }],
  ['whose fixed version is all that is known', { type: 'library', name: 'rpc', version: '1.4.0' }],
  ['that is a file', { type: 'file', name: 'rpc', version: '1.0.0' }],
])('a package %s is none that is affected', (_, rpc) => {
  expect(chainIn(cycloneDx(rpc))).toBeUndefined();
});

test('SPDX names packages without a package URL too, and their versions', () => {
  const spdx = (versionInfo: string) => ({
    spdxVersion: 'SPDX-2.3',
    packages: [{ SPDXID: 'a', name: 'rpc', versionInfo }],
  });
  expect(chainIn(spdx('1.0.0'))).toEqual(['rpc@1.0.0']);
  expect(chainIn(spdx('1.4.0'))).toBeUndefined();
});

test('packages that are known by their names alone are counted', () => {
  const more = [
    { name: 'a' },
    { name: 'b', purl: 'b' },
    { type: 'library', name: 'c' },
    { type: 'file', name: 'd' },
    { name: '' },
  ];
  const read = readSbom(JSON.stringify({ bomFormat: 'CycloneDX', components: [component('log', '1.0.0'), ...more] }));
  expect('sbom' in read && countNamedOnly(read.sbom)).toBe(4);
});

test.each([
  ['the application, container or operating system', [{ type: 'application', name: 'a' }, { type: 'container', name: 'b' }, { type: 'operating-system', name: 'c' }], 3], // prettier-ignore
  ['entries that are no objects, at any depth', ['a', null, { ...component('log', '1.0.0'), components: [7] }], 3],
  ['neither files nor data', [{ type: 'file', name: 'a' }, { type: 'data', name: 'b' }, component('log', '1.0.0')], 0],
])('among them are %s', (_, components, count) => {
  const metadata = { component: { type: 'application', name: 'shop', 'bom-ref': 'shop' } };
  const read = readSbom(JSON.stringify({ bomFormat: 'CycloneDX', metadata, components: [...components, component('x', '1')] })); // prettier-ignore
  expect('sbom' in read && countNamedOnly(read.sbom)).toBe(count);
});

test('each of several components under one reference is compared', () => {
  const twice = (first: string, second: string) =>
    [first, second].map((version) => ({ ...component('rpc', version), 'bom-ref': 'rpc-ref' }));
  for (const components of [twice('1.0.0', '1.4.0'), twice('1.4.0', '1.0.0')])
    expect(chainIn({ bomFormat: 'CycloneDX', components })).toEqual(['rpc@1.0.0']);
  const packages = ['1.0.0', '1.4.0'].map((versionInfo) => ({ SPDXID: 'a', name: 'rpc', versionInfo }));
  expect(chainIn({ spdxVersion: 'SPDX-2.3', packages })).toEqual(['rpc@1.0.0']);
});

test('a byte order mark is no part of an SBOM', () => {
  expect(chainIn(`\uFEFF${JSON.stringify(cycloneDx(component('rpc', '1.3.9')))}`)).toHaveLength(3);
});

/** As tools write them, against the advisory that is about each. */
test.each([
  ['go-subpath.json', { ecosystem: 'Go', name: 'github.com/nats-io/nats-server/v2' }, '2.10.27', true],
  ['go-subpath.json', { ecosystem: 'Go', name: 'github.com/nats-io/nats-server' }, '2.10.27', false],
  ['version-beside-purl.json', { ecosystem: 'npm', name: 'lodash' }, '4.17.21', false],
  ['version-beside-purl.json', { ecosystem: 'npm', name: 'lodash' }, '4.17.22', true],
])('%s has %j before %s: %s', (file, named, fixed, isHit) => {
  const read = readSbom(readFileSync(join(__dirname, '../../../fixtures/sboms', file), 'utf8'));
  const range = { type: 'SEMVER', events: [{ introduced: '0' }, { fixed }] };
  const advisory = { id: 'X-1', affected: [{ package: named, ranges: [range], versions: [] }] };
  expect('sbom' in read && chainToAffected(read.sbom, advisory, SEMANTIC_ORDER) !== undefined).toBe(isHit);
});
