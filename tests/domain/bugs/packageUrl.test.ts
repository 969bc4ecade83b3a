import fc from 'fast-check';
import { packageIn, packageNamed } from '../../../domain/bugs/packageUrl';

test.each([
  ['pkg:npm/esbuild@0.21.5', 'npm/esbuild', '0.21.5'],
  ['pkg:npm/%40hono/node-server@2.1.8', 'npm/@hono/node-server', '2.1.8'],
  ['pkg:npm/@hono/node-server@2.1.8', 'npm/@hono/node-server', '2.1.8'],
  ['pkg:npm/@hono/node-server', 'npm/@hono/node-server', undefined],
  ['pkg:maven/org.apache.commons/io@1.3.4?type=jar', 'maven/org.apache.commons/io', '1.3.4'],
  ['pkg:golang/google.golang.org/genproto@v0.1.0#googleapis/api', 'golang/google.golang.org/genproto', 'v0.1.0'],
  ['pkg:deb/debian/curl@7.50.3-1?arch=i386&distro=jessie', 'deb/debian/curl', '7.50.3-1'],
  ['pkg:PyPI/Ruamel_Yaml@1.0', 'pypi/ruamel-yaml', '1.0'],
  ['pkg://npm/esbuild@1.0.0%2Bbuild', 'npm/esbuild', '1.0.0+build'],
])('%s is the package %s at %s', (purl, key, version) => {
  expect(packageIn(purl)).toEqual({ key, version });
});

test.each(['', 'esbuild', 'pkg:npm', 'pkg:npm/', 'npm/esbuild@1', 'pkg:npm/%zz@1'])(
  '%j is not a package URL',
  (text) => {
    expect(packageIn(text)).toBeUndefined();
  },
);

test('whatever somebody writes as a package URL, reading it ends', () => {
  fc.assert(fc.property(fc.string(), (text) => packageIn(`pkg:npm/${text}`)?.key !== ''));
});

test.each([
  [{ ecosystem: 'npm', name: '@hono/node-server' }, 'npm/@hono/node-server'],
  [{ ecosystem: 'Maven:https://maven.google.com', name: 'org.apache.commons:io' }, 'maven/org.apache.commons/io'],
  [{ ecosystem: 'PyPI', name: 'Jinja2' }, 'pypi/jinja2'],
  [{ ecosystem: 'Debian:12', name: 'curl', purl: 'pkg:deb/debian/curl?arch=source' }, 'deb/debian/curl'],
  [{ ecosystem: 'Debian:12', name: 'curl' }, undefined],
])('an advisory about %j means %s in an SBOM', (named, key) => {
  expect(packageNamed(named)).toBe(key);
});
