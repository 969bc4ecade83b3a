import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ROOT } from './setup/sources';

const home = mkdtempSync(join(tmpdir(), 'conveyor-cached-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const LEAVES_MARK = ': >"$CONVEYOR_CACHE.ran"';

function plant(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

interface Machine {
  readonly bin: string;
  readonly cache: string;
  run(
    script: string,
    ...args: readonly string[]
  ): { readonly status: number | null; readonly stdout: string; readonly stderr: string };
}

/** A machine with an empty cache and, before all others, these programs. */
function machine(programs: Readonly<Record<string, string>> = {}): Machine {
  const bin = mkdtempSync(join(home, 'bin-'));
  const cache = mkdtempSync(join(home, 'cache-'));
  for (const [name, text] of Object.entries(programs)) plant(join(bin, name), text);
  const named = plant(join(home, 'named', 'program'), 'exit 0');
  const env = {
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    HOME: home,
    CONVEYOR_CACHE: cache,
    TEMPORAL_CLI: named,
  };
  return {
    ...{ bin, cache },
    run: (script, ...args) => spawnSync('bash', [join(ROOT, script), ...args], { encoding: 'utf8', env }),
  };
}

/** No PostgreSQL but that of the cache. */
const NO_POSTGRES = {
  initdb: 'exit 1',
  ls: 'case "$*" in *" /usr/lib/"*) exit 2 ;; esac; exec /bin/ls "$@"',
};

interface Cached {
  readonly script: string;
  readonly args: readonly string[];
  /** All programs of it, below the cache; the first one is changed. */
  readonly files: readonly string[];
}

const CACHED: Readonly<Record<string, Cached>> = {
  etcd: { script: 'scripts/etcd.sh', args: ['--print-path'], files: ['bin/etcd'] },
  'the control plane of Kubernetes': {
    ...{ script: 'scripts/control-plane.sh', args: ['--print-path'], files: ['bin/control-plane-1.37.1'] },
  },
  PostgreSQL: {
    ...{ script: 'scripts/postgres.sh', args: ['--print-path'] },
    files: ['initdb', 'postgres'].map((name) => `postgresql/usr/lib/postgresql/15/bin/${name}`),
  },
  'the test server': {
    script: 'scripts/test-server.sh',
    args: ['--print-path'],
    files: ['test-server-1.32.0/test-server'],
  },
  'the Temporal server': {
    ...{ script: 'temporal-cluster.sh', args: ['--install-only'] },
    files: ['bin/temporal-server-1.31.2', 'bin/temporal-sql-tool-1.31.2'],
  },
};

describe.each(Object.entries(CACHED))('%s in the cache', (_what, { script, args, files }) => {
  const full = (): Machine & { readonly first: string } => {
    const it = machine(script.includes('postgres') ? NO_POSTGRES : { initdb: 'exit 0', postgres: 'exit 0' });
    // One on PATH that others may write is passed over.
    chmodSync(plant(join(it.bin, 'etcd'), 'exit 0'), 0o777);
    const [first = ''] = files.map((file) => plant(join(it.cache, file), LEAVES_MARK));
    return { ...it, first };
  };

  test('is run as long as it is what was put there', () => {
    const it = full();
    for (const _again of [1, 2]) expect(it.run(script, ...args)).toMatchObject({ status: 0 });
  });

  test('is not run once it is something else', () => {
    const it = full();
    expect(it.run(script, ...args).status).toBe(0);
    rmSync(`${it.cache}.ran`, { force: true });
    plant(it.first, `${LEAVES_MARK}; echo evil`);
    expect(it.run(script, ...args)).toMatchObject({
      ...{ status: 1, stdout: '' },
      stderr: expect.stringMatching(/has the SHA-256 [0-9a-f]{64}, not the [^]*hint: do not run it; remove /),
    });
    expect(existsSync(`${it.cache}.ran`)).toBe(false);
  });

  test('is not run where others may write it', () => {
    const it = full();
    chmodSync(dirname(it.first), 0o777);
    chmodSync(it.first, 0o777);
    chmodSync(it.cache, 0o777);
    expect(it.run(script, ...args)).toMatchObject({
      ...{ status: 1, stdout: '' },
      stderr: expect.stringContaining('error: others may write '),
    });
    expect(existsSync(`${it.cache}.ran`)).toBe(false);
  });
});

describe('the jars of the test server', () => {
  const MAVEN =
    'for it; do case $it in -DoutputDirectory=*) echo evil >"${it#*=}/temporal-test-server-1.32.0.jar" ;; esac; done';

  test('are refused where a repository gives others than the pinned ones', () => {
    const it = machine({ java: 'exit 0', mvn: MAVEN });
    expect(it.run('scripts/test-server.sh')).toMatchObject({
      ...{ status: 1, stdout: '' },
      stderr: expect.stringContaining('error: Maven fetched other jars of the test server than the pinned ones'),
    });
    expect(existsSync(join(it.cache, 'test-server-1.32.0'))).toBe(false);
  });

  test('are pinned in the version that is asked for', () => {
    const [, version] =
      /temporal-test-server<\/artifactId>\s*<version>([\d.]+)</.exec(
        readFileSync(join(ROOT, 'tools/test-server/pom.xml'), 'utf8'),
      ) ?? [];
    expect(readFileSync(join(ROOT, 'tools/test-server/jars.sha256'), 'utf8')).toContain(
      `  temporal-test-server-${version}.jar\n`,
    );
  });
});
