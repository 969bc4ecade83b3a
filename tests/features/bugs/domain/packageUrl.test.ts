import fc from 'fast-check';
import { packageIn, packageNamed } from '../../../../features/bugs/domain/packageUrl';

test.each([
  ['pkg:npm/esbuild@0.21.5', 'npm/esbuild', '0.21.5'],
  ['pkg:npm/%40hono/node-server@2.1.8', 'npm/@hono/node-server', '2.1.8'],
  ['pkg:npm/@hono/node-server@2.1.8', 'npm/@hono/node-server', '2.1.8'],
  ['pkg:npm/@hono/node-server', 'npm/@hono/node-server', undefined],
  ['pkg:maven/org.apache.commons/io@1.3.4?type=jar', 'maven/org.apache.commons/io', '1.3.4'],
  ['pkg:deb/debian/curl@7.50.3-1?arch=i386&distro=jessie', 'deb/debian/curl', '7.50.3-1'],
  ['pkg:PyPI/Ruamel_Yaml@1.0', 'pypi/ruamel-yaml', '1.0'],
  ['pkg://npm/esbuild@1.0.0%2Bbuild', 'npm/esbuild', '1.0.0+build'],
])('%s is the package %s at %s', (purl, key, version) => {
  expect(packageIn(purl)).toEqual({ keys: [key], version });
});

test.each([
  ['pkg:deb/debian/libcurl4@7.88.1-10?arch=amd64&upstream=curl&distro=debian-12', 'deb/debian/curl'],
  ['pkg:deb/debian/libc6@2.36-9?upstream=glibc%402.36', 'deb/debian/glibc'],
  ['pkg:apk/alpine/libcrypto3@3.1.4?upstream=openssl', 'apk/alpine/openssl'],
])('%s is also built from %s, which advisories name', (purl, source) => {
  expect(packageIn(purl)?.keys).toContain(source);
});

test('outside of distributions a qualifier names no other package', () => {
  expect(packageIn('pkg:npm/esbuild@1.0.0?upstream=curl')?.keys).toEqual(['npm/esbuild']);
});

test.each(['', 'esbuild', 'pkg:npm', 'pkg:npm/', 'npm/esbuild@1', 'pkg:npm/%zz@1'])(
  '%j is not a package URL',
  (text) => {
    expect(packageIn(text)).toBeUndefined();
  },
);

test('reading a package URL always ends, whatever the text', () => {
  fc.assert(fc.property(fc.string(), (text) => packageIn(`pkg:npm/${text}`)?.keys[0] !== ''));
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

test.each<[string, string[]]>([
  ['pkg:golang/github.com/nats-io/nats-server@v2.10.14#v2', ['github.com/nats-io/nats-server/v2']],
  ['pkg:golang/github.com/jackc/pgx@v5.6.0#v5/pgxpool', ['github.com/jackc/pgx/v5', 'github.com/jackc/pgx/v5/pgxpool']],
  ['pkg:golang/github.com/aws/sdk@v1.0.0#service/s3', ['github.com/aws/sdk', 'github.com/aws/sdk/service/s3']],
  [
    'pkg:golang/google.golang.org/genproto?type=module#/googleapis/',
    ['google.golang.org/genproto', 'google.golang.org/genproto/googleapis'],
  ],
])('%s may be the modules %j, as syft writes their paths', (purl, names) => {
  expect([...new Set(packageIn(purl)?.keys)]).toEqual(names.map((name) => `golang/${name}`));
});

/** By ecosystem: as an advisory names a package, as an SBOM does, and one that is another. */
test.each([
  [
    'Go',
    'github.com/Masterminds/goutils',
    'pkg:golang/github.com/masterminds/goutils@v1.1.0',
    'pkg:golang/github.com/masterminds/goutils/v2@v2.0.0',
  ],
  ['NuGet', 'Newtonsoft.Json', 'pkg:nuget/newtonsoft.json@1.0.0', 'pkg:nuget/Newtonsoft-Json@1.0.0'],
  ['PyPI', 'jaraco.context', 'pkg:pypi/Jaraco_context@1.0', 'pkg:pypi/jaracocontext@1.0'],
  ['PyPI', 'a.-_b', 'pkg:pypi/a-b@1.0', 'pkg:pypi/ab@1.0'],
  ['Packagist', 'Symfony/HTTP-Kernel', 'pkg:composer/symfony/http-kernel@1.0', 'pkg:composer/symfony/http_kernel@1.0'],
  ['Hex', 'Phoenix', 'pkg:hex/phoenix@1.0.0', 'pkg:hex/phoenix_html@1.0.0'],
  ['Pub', 'HTTP', 'pkg:pub/http@1.0.0', 'pkg:pub/http2@1.0.0'],
  ['crates.io', 'serde_json', 'pkg:cargo/serde-json@1.0.0', 'pkg:cargo/serdejson@1.0.0'],
  ['npm', 'JSONStream', 'pkg:npm/JSONStream@1.0.0', 'pkg:npm/jsonstream@1.0.0'],
  ['Maven', 'org.Apache:io', 'pkg:maven/org.Apache/io@1', 'pkg:maven/org.apache/io@1'],
  ['RubyGems', 'Rails', 'pkg:gem/Rails@1', 'pkg:gem/rails@1'],
])('names of %s are the same by its own rules: %s is %s, and not %s', (ecosystem, name, same, other) => {
  const key = packageNamed({ ecosystem, name });
  expect(packageIn(same)?.keys).toContain(key);
  expect(packageIn(other)?.keys).not.toContain(key);
});

test('names of Debian are always lower case', () => {
  expect(packageIn('pkg:deb/Debian/Curl@7')?.keys).toEqual(packageIn('pkg:deb/debian/curl@7')?.keys);
});
