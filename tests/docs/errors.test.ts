import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { conveyorError, ERRORS, type ErrorCode } from '../../domain/errors';
import { parseRegistry } from '../../settings/registry';

const DOCS = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');

type Params = { readonly [C in ErrorCode]: Parameters<(typeof ERRORS)[C]['message']>[0] };

/** The parameters of the examples in docs/errors.md. */
const SAMPLES: Params = {
  usage: { text: 'unknown command relase', hint: 'did you mean release?' },
  'invalid-id': { text: 'kvstore/twelve', expected: 'the id of a pipeline, release or deploy' },
  'missing-reason': { verb: 'pause' },
  'unknown-pipeline': { pipeline: 'kvstor' },
  'unknown-bug': { id: 'bug/9' },
  'advisory-invalid': {
    file: 'GHSA-67mh-4wv8-2f99.json',
    why: 'affected.0.ranges.0.events: none says which version introduced it',
  },
  'sbom-unreadable': { sbom: 'kv/12.cdx.json', why: 'it is not JSON' },
  'bug-refused': { why: '12 cannot both have the bug and be its fix' },
  'unknown-release': { id: 'kvstore/99' },
  'unknown-deploy': { id: 'kvstore/12/publish' },
  'ambiguous-deploy': { id: 'web/7', deploys: ['web/7/eu', 'web/7/us'] },
  'not-permitted': { actor: 'user:mallory', pipeline: 'kvstore' },
  unsigned: {
    place: 'platform.protection.0',
    pipeline: 'prod-kv',
    name: 'executable',
    artifact: 'executable@kv:13',
    why: 'it takes a signature of the key ci and has none; metadata.attestation: it is about executable@kv:12, and not about executable@kv:13',
  },
  'invalid-state': { verb: 'skip-phase', id: 'kvstore/12/deploy', why: 'no phase is under way' },
  'key-reused': { key: 'ci-4711', was: 'kvstore/12 with source@1a2b', now: 'source@3c4d' },
  'not-rerunnable': {
    id: 'kvstore/12',
    why: 'release 13 is newer and has begun deploy, and no older one begins that any more',
    instead: 'conveyor release kvstore --artifact source=1a2b releases the same versions from the beginning',
  },
  'known-bad': {
    artifact: 'executable@kv:13',
    pipeline: 'kvstore',
    since: 'release 2 was reverted automatically: errors is 0.1995, above the limit of 0.05',
  },
  'digest-changed': {
    artifact: 'executable@kv:12#sha256:b5bb…',
    pipeline: 'kvstore',
    known: 'sha256:7d86…',
    from: 'release 7',
  },
  'missing-artifact': { pipeline: 'kvstore', names: ['source'] },
  'unknown-artifact': { pipeline: 'kvstore', name: 'src', known: ['source'] },
  'unknown-extension': { kind: 'push-type', name: 'twin', known: ['twine'] },
  'extension-rejected': {
    service: 'twine',
    method: 'executeUpdates',
    status: 409,
    detail: 'unit-busy: kvstore-x is being updated by deploy/kvstore/11/deploy/1/0/1',
  },
  'extension-lacks-method': { service: 'hosts', method: 'prefetch' },
  'extension-protocol': {
    service: 'twine',
    method: 'trackUpdates',
    field: 'units.0.live',
    detail: 'Invalid input: expected number, received string (it is "two")',
  },
  'extension-unavailable': {
    service: 'twine',
    method: 'needsPush',
    detail: 'connect ECONNREFUSED 127.0.0.1:4400 (http://localhost:4400/…)',
  },
  'scripts-off': { command: './load-test' },
  'script-not-runnable': {
    command: './load-test',
    detail: 'it was not found, neither on PATH nor from /srv/conveyor',
  },
  'notification-refused': {
    url: '${SLACK_WEBHOOK}',
    detail: 'notifications.env of conveyor.config.yaml does not list SLACK_WEBHOOK',
  },
  'notification-undelivered': { url: '${SLACK_WEBHOOK}', detail: 'ECONNREFUSED' },
  'plan-impossible': { why: 'the scope region:z of phase first matches none of the units (kvstore-x, kvstore-y)' },
  'temporal-unreachable': { address: 'localhost:7233', detail: 'Failed to connect before the deadline' },
  'server-unreachable': {
    url: 'https://conveyor.example.com',
    detail: 'getaddrinfo ENOTFOUND conveyor.example.com',
  },
  'simulator-unreachable': { url: 'http://localhost:4400', detail: 'fetch failed' },
  'no-worker': { id: 'kvstore/12' },
  'port-in-use': { port: 4400, process: 'the simulator' },
  'files-in-use': { what: 'the cache /var/cache/conveyor', by: 'process 812 on web-1, since 2026-11-24T09:00:00Z' },
  'file-unreadable': {
    file: 'pipelin.yaml',
    detail: 'there is no such file',
  },
  'invalid-file': { file: 'pipeline.yaml', problems: 2 },
  'offers-cycle': {
    pipeline: 'auth',
    path: 'auth/deploy → registry/deploy → auth/deploy',
  },
  'config-rejected': {
    pipeline: 'web',
    refused: ['twine refuses the config of deploy: config.jobs[0]: no job nope'],
  },
  'excerpt-invalid': {
    file: 'excerpts/network.json',
    detail: 'offers.0.parts: Invalid input: expected array, received undefined',
  },
  'config-invalid': {
    file: 'conveyor.config.yaml',
    detail: 'extensions.0.url: expected a URL such as http://localhost:4400/push-types/twine',
  },
  'gate-invalid': { name: 'checkout', problems: ['rules[0].pass: expected a number from 0 to 1, got 5'] },
  'sitevar-refused': { name: 'cart-limits', problems: ['items: Too small: expected number to be >=1'] },
  'sitevar-deviates': { name: 'motd', warnings: ['it was a text so far, and is a number now'] },
  'credentials-unusable': {
    file: '/home/alice/.config/conveyor/credentials.json',
    why: 'others may read it (mode 644)',
  },
  unauthorized: { why: 'the bearer token is not one of the configured tokens' },
  'sign-in-failed': { issuer: 'https://id.example.com', detail: 'access_denied: you are not of this team' },
  'sign-in-refused': { why: 'the link was used before' },
  'form-refused': { why: 'it comes from a page of another site' },
  'audit-unwritable': { detail: 'ENOSPC: no space left on device, write' },
  'identity-unreachable': { issuer: 'https://id.example.com', detail: 'the request timed out' },
  'bad-signature': { webhook: 'github', why: 'X-Hub-Signature-256 does not match the body' },
  'not-in-scope': { source: 'builds', what: 'publish for the finder "commits"' },
  'wrong-key': { run: 'kvstore/12/build/1' },
  'webhook-closed': { webhook: 'github', variables: ['CONVEYOR_GITHUB_SECRET'] },
  'invalid-request': { detail: 'artifacts.0.version: Invalid input: expected string, received number' },
  'too-slow': { seconds: 10 },
  'too-large': { limit: '1 MiB' },
  'over-limit': { what: 'the metadata of the artifact source', size: '20 kB', limit: '2 kB' },
  'invalid-text': {
    what: 'the version of the artifact source',
    why: 'has the control character U+001B at character 5',
  },
  'queue-full': {
    pipeline: 'kvstore',
    why: '200 releases wait already, and with supersede: never none of them is dropped',
  },
  'emergency-full': {
    pipeline: 'kvstore',
    why: 'another emergency is under way, and there is no room for one more',
  },
  'not-found': { what: 'GET /v1/release' },
  overloaded: { waiting: 1000 },
  'store-unavailable': { store: 'http://127.0.0.1:2379', detail: 'connect ECONNREFUSED 127.0.0.1:2379' },
  'store-full': { store: 'http://127.0.0.1:2379' },
  'store-refused': { store: 'http://127.0.0.1:2379', detail: 'etcdserver: user name is empty' },
  'store-forged': { repository: 'flags', what: 'the value of feed/limits', why: 'it is not signed' },
  'store-out-of-step': { repository: 'flags', head: '12@9f8e7d6', given: '14@1a2b3c4' },
  'process-failed': {
    process: 'worker',
    how: 'it ended with exit code 1',
    tail: 'Its last lines:\n  | error: config-invalid: conveyor.config.yaml is not a valid configuration: …',
    logFile: '.conveyor/logs/worker.log',
    command: 'conveyor dev',
  },
  'demo-unexpected': {
    what: 'kvstore/1 should have succeeded, but it is failed',
    logFolder: '.conveyor/logs/demo-4711',
  },
  'config-file-unusable': { file: 'feed/words.json', why: 'it is a symbolic link, which may lead out of the tree' },
  'config-import-refused': {
    file: 'feed/limits.config.ts',
    imported: 'node:fs',
    why: 'programs import files of their tree, zod and conveyor/config, and nothing else',
  },
  'config-programs-unprotected': {
    missing: ['network', 'files'],
    why: 'unshare: unshare failed: Operation not permitted',
  },
  'config-program-failed': { file: 'feed/limits.config.ts', how: 'it ran for more than 10s' },
  'config-not-deterministic': {
    file: 'feed/limits.config.ts',
    path: 'feed/limits',
    first: '"soft": 12',
    second: '"soft": 1',
  },
  'config-value-refused': {
    path: 'feed/limits',
    file: 'feed/limits.config.ts',
    by: 'softBelowHard of feed/limits.validate.ts',
    why: 'soft 500 is above hard 100',
    chain: ['feed/limits.config.ts', 'feed/shared.ts', 'feed/limits.schema.ts'],
  },
  'config-validator-failed': {
    path: 'feed/limits',
    invariant: 'softBelowHard',
    file: 'feed/limits.validate.ts',
    how: 'it ran for more than 10s',
  },
  'config-path-taken': { path: 'feed/limits', files: ['feed/limits.config.ts', 'feed/limits.json'] },
  'config-repository-unusable': { repository: 'flags', detail: 'refs/heads/main is 1a2b, which is not a commit' },
  'config-repository-unreachable': { repository: 'flags', detail: 'Could not read from remote repository.' },
  'config-change-unknown': { repository: 'flags', change: 12 },
  'config-not-one-pipeline': {
    parts: [
      { pipeline: 'feed', path: 'feed/limits' },
      { pipeline: 'ads', path: 'ads/budget' },
    ],
  },
  'config-base-unknown': { folder: 'my-flags', name: 'flags', git: '/srv/flags.git' },
  'config-conflict': { change: 12, file: 'feed/limits.config.ts', by: 'change 11' },
  'config-branch-rewritten': { repository: 'flags', commit: '1a2b3c4d5e6f7081' },
  'config-unchanged': { repository: 'flags' },
  'package-invalid': { path: 'models/feed', why: 'it has more than 4096 pieces' },
  'archive-unavailable': { place: '/var/lib/conveyor/archive.duckdb', detail: 'No space left on device' },
  'archive-unusable': {
    place: '/var/lib/conveyor/archive.duckdb',
    detail: 'The file is not a valid DuckDB database file!',
  },
  'archive-foreign': { place: '/var/lib/conveyor/archive.duckdb', origin: 'default/3f2a', own: 'default/9c81' },
  'backup-failed': {
    part: 'the disk of /mnt/backup',
    detail: 'the archive (1.3 MB) and Temporal (811.1 MB) need 812.4 MB, and 300.1 MB are free',
    how: 'make room, or choose a folder on another disk; nothing else was changed',
  },
  'backup-unusable': { folder: '/mnt/backup/monday', why: 'temporal/temporal.db is not as it was written' },
  'restore-refused': { why: 'worker 812 still runs', how: 'stop everything first, workers on other machines too' },
  internal: { detail: 'Cannot read properties of undefined' },
};

interface Documented {
  readonly code: string;
  readonly text: string;
}

/** The sections of the file; one an error. */
function documented(): Documented[] {
  const [, ...parts] = DOCS.split(/^## /m);
  return parts.map((part) => ({ code: part.slice(0, part.indexOf('\n')), text: part }));
}

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('docs/errors.md', () => {
  test('documents every error that there is, and none that there is not, in the same order', () => {
    expect(documented().map(({ code }) => code)).toEqual(codes);
  });

  test.each(codes)(
    '%s: shows the message and the hint as they are printed, the exit code and whether to try again',
    (code) => {
      const text = documented().find((section) => section.code === code)?.text ?? '';
      const { message, hint, exit, retryable } = conveyorError(code, SAMPLES[code]);
      expect(text).toContain(`error: ${code}: ${message}\nhint: ${hint}\n`);
      expect(text).toContain(
        `Exit code ${exit}. ${retryable ? 'Trying again may help.' : 'Trying again does not help.'}`,
      );
    },
  );

  test('the complete configuration under config-invalid is one that loads', () => {
    const example = /```yaml\n([^]*?)```/.exec(DOCS.slice(DOCS.indexOf('\n## config-invalid\n')))?.[1] ?? '';
    const registry = parseRegistry(parse(example), { TWINE_TOKEN: 'secret' });
    expect(new Set(registry.extensions.map(({ kind }) => kind)).size).toBe(4);
    expect(registry.find('push-type', 'twine')).toMatchObject({ token: 'secret', timeoutMs: 10_000 });
    expect(registry.groups['storage']).toEqual(['user:alice', 'user:bob']);
    expect(
      Object.keys((parse(example) as { settings: object }).settings)
        .map((name) => `${name}Ms`)
        .sort(),
    ).toEqual(Object.keys(registry.settings).sort());
  });
});
