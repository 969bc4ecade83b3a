import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { repositoryFiles } from './setup/repositoryFiles';
import { ROOT, parse, runningSources, testSources, type Source } from './setup/sources';
import { findInShell, openSecrets, predictableNames, type Finding } from './setup/temporaryNames';

const OWN = /^tests\/(temporaryNames\.test|setup\/temporaryNames)\.ts$/;
const product = [...runningSources(), ...testSources().filter(({ name }) => name.startsWith('bench/'))];
const tests = testSources().filter(({ name }) => name.startsWith('tests/') && !OWN.test(name));
const shells = repositoryFiles()
  .map((name) => ({ name, text: readFileSync(path.join(ROOT, name), 'utf8') }))
  .filter(({ name, text }) => /\.sh$/.test(name) || /^#!\S*[\s/](env )?(ba|da)?sh\b/.test(text));

/** Foreseen, and yet no other user can be faster. */
const SAFE: Readonly<Record<string, string>> = {
  'sandbox/workplace.ts: join(tmpdir(), name)': 'removes a folder that was found there, and only one of its own user',
  "tests/configerator/escapes.long.test.ts: join(tmpdir(), 'conveyor.config.yaml')": 'names a file that is never read',
  'tests/settings/privateFiles.test.ts: join(tmpdir(), `${formatRunMark(run)}-link`)':
    'plants the link of another user',
  "tests/sandbox/isolation.long.test.ts: join(tmpdir(), name, 'tmp', mark)": 'only looks whether it is there',
  "tests/sandbox/isolation.long.test.ts: join('/tmp', mark)": 'only looks whether it is there',
};

const keyOf = ({ where, code }: Finding): string => `${where.replace(/:\d+$/, '')}: ${code}`;
const linesOf = (found: readonly Finding[]): string[] => found.map(({ where, code }) => `${where}: ${code}`);

describe('another user of the machine', () => {
  test('foresees no name in a shared folder that a program is about to write', () => {
    const found = [...product, ...tests].flatMap(predictableNames);
    expect(linesOf(found.filter((one) => !(keyOf(one) in SAFE)))).toEqual([]);
    expect(Object.keys(SAFE).filter((key) => !found.map(keyOf).includes(key))).toEqual([]);
  });

  test('reads no file in which a program keeps a secret', () => {
    expect(linesOf(product.flatMap(openSecrets))).toEqual([]);
  });

  test('does neither where a script of the shell runs', () => {
    expect(shells.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['.ci/run', 'scripts/common.sh', 'temporal-dev.sh', 'examples/ci/conveyor-release.sh']),
    );
    expect(linesOf(shells.flatMap(({ name, text }) => findInShell(name, text)))).toEqual([]);
  });
});

describe('a foreseen name would be seen', () => {
  test.each([
    "writeFileSync(join(tmpdir(), 'conveyor.log'), text)",
    'writeFileSync(path.join(os.tmpdir(), `conveyor-${process.pid}`), text)',
    'const at = `${tmpdir()}/conveyor-${process.pid}.sock`;',
    "const at = tmpdir() + '/conveyor';",
    "const home = realpathSync(tmpdir()); mkdirSync(resolve(home, 'conveyor'))",
    "const home = process.env.TMPDIR ?? '/tmp'; mkdirSync(join(home, 'conveyor'))",
    "mkdirSync(join(process.env['TMPDIR'] || tmpdir(), 'conveyor'))",
    "appendFileSync('/tmp/conveyor.log', text)",
    "mkdirSync('/dev/shm/conveyor')",
    'spawnSync("sh", ["-c", "date >/tmp/conveyor.$$"])',
    'spawnSync("sh", ["-c", `it=$(mktemp -u); mkfifo "$it"`])',
  ])('in TypeScript: %s', (code) => {
    expect(predictableNames(planted(code))).toHaveLength(1);
  });

  test.each([
    "mkdtempSync(join(tmpdir(), 'conveyor-'))",
    "await mkdtemp(path.join(os.tmpdir(), 'conveyor-'))",
    'mkdtempSync(`${tmpdir()}/conveyor-`)',
    "mkdtempSync('/var/tmp/conveyor-')",
    "const folder = mkdtempSync(join(tmpdir(), 'conveyor-')); join(folder, 'log')",
    'readdirSync(tmpdir())',
    "const PRIVATE = ['/run', '/dev/shm', '/tmp'];",
    "join(copies, 'tmp', 'log')",
    "// such as '/tmp/conveyor.log'",
  ])('and none in: %s', (code) => {
    expect(predictableNames(planted(code))).toEqual([]);
  });

  test.each([
    'date >/tmp/conveyor.log',
    'made="/tmp/conveyor.$$"',
    'mkdir -p "/var/tmp/conveyor"',
    'made=${TMPDIR:-/tmp}/conveyor',
    'made="$TMPDIR/conveyor.$$"',
    'work=${TMPDIR:-/tmp}\nmkdir "$work/conveyor.$$"',
    'local work="/dev/shm"\nmkdir "${work}/conveyor"',
    'pipe=$(mktemp -u)',
    'pipe=$(mktemp -t -du conveyor.XXXXXX)',
    'pipe=$(mktemp --dry-run)',
  ])('in a shell: %s', (code) => {
    expect(findInShell('planted.sh', code)).toHaveLength(1);
  });

  test.each([
    'work=$(mktemp -d)\ndate >"$work/log"',
    'work=$(mktemp -d "${TMPDIR:-/tmp}/conveyor.XXXXXX")',
    'work=$(mktemp -d /tmp/conveyor.XXXXXX)',
    'made="$CONVEYOR_CACHE/temporal.$$"',
    '# such as /tmp/conveyor.log',
  ])('and none in a shell: %s', (code) => {
    expect(findInShell('planted.sh', code)).toEqual([]);
  });
});

describe('a file with a secret that others may read would be seen', () => {
  test.each([
    'writeFileSync(file, JSON.stringify({ token }))',
    "await writeFile(join(folder, 'password'), text, { flag: 'wx' })",
    'writeFileSync(file, secret, { mode: 0o644 })',
    'replaceFileSync(file, secret, { mode: 0o644 })',
    "function keep(credentials) { const fd = openSync(part, 'wx'); writeSync(fd, JSON.stringify(credentials)); }",
    "const keep = async (passwords) => { const file = await open(part, 'a'); await file.appendFile(passwords.join()); };",
    "const keep = (privateKey) => createWriteStream('a.pem').end(privateKey);",
    'writeFileSync(file, text + password); chmodSync(file, 0o600);',
  ])('in TypeScript: %s', (code) => {
    expect(openSecrets(planted(code))).toHaveLength(1);
  });

  test.each([
    'writeFileSync(file, JSON.stringify({ token }), { mode: 0o600 })',
    "function keep(credentials) { const fd = openSync(part, 'wx', 0o600); writeSync(fd, credentials); }",
    "const read = (token) => openSync(file, 'r');",
    "const keep = (secret) => replaceFileSync(join(folder, 'secret'), secret, { mode: 0o600 });",
    "writeFileSync(file, 'public')",
    'writeFileSync(file, stringify({ tokenEnv }))',
  ])('and none in: %s', (code) => {
    expect(openSecrets(planted(code))).toEqual([]);
  });

  test.each(['printf %s "$CONVEYOR_CI_TOKEN" >"$work/header"', 'echo "$PASSWORD" | tee file'])(
    'in a shell: %s',
    (code) => {
      expect(findInShell('planted.sh', code)).toHaveLength(1);
      expect(findInShell('planted.sh', `umask 077\n${code}`)).toEqual([]);
    },
  );

  test('and none in a shell that says where its token is missing', () => {
    expect(findInShell('planted.sh', 'echo "no token" >&2\ncheck "$TOKEN" >/dev/null 2>&1')).toEqual([]);
  });
});

const planted = (code: string): Source => parse('planted.ts', code);
