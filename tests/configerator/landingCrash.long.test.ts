import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { Lander } from '../../configerator/repository/land';
import { bench, NOW } from './repositories';
import { folderOf } from './sources';

const ROOT = resolve(__dirname, '../..');
const REAL = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();

/** A folder with a git that kills its caller, uncatchably, right after its nth call has done its work. */
function deadlyGit(nth: number): { readonly path: string; readonly calls: () => number } {
  const folder = folderOf({ calls: '' });
  const calls = join(folder, 'calls');
  const script = `#!/bin/sh
case "$*" in *--git-dir*) echo call >> ${calls};; *) exec ${REAL} "$@";; esac
${REAL} "$@"
code=$?
if [ "$(wc -l < ${calls})" -eq ${nth} ]; then kill -9 $PPID; fi
exit $code
`;
  writeFileSync(join(folder, 'git'), script);
  chmodSync(join(folder, 'git'), 0o755);
  return { path: folder, calls: () => readFileSync(calls, 'utf8').split('\n').length - 1 };
}

function landInProcess(origin: string, nth: number): { readonly signal: string | null; readonly calls: number } {
  const git = deadlyGit(nth);
  const { signal } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/jiti/lib/jiti-cli.mjs'), join(__dirname, 'landOnce.ts'), origin, folderOf({}), '1', '2'],
    { env: { PATH: `${git.path}${delimiter}${process.env['PATH']}` }, cwd: ROOT },
  );
  return { signal, calls: git.calls() };
}

test('a strip that is killed after any of its steps lands each change once, in order', async () => {
  const whole = await bench();
  for (const n of [1, 2]) await whole.proposeValues({ [`a/${n}`]: n }, null);
  const { signal, calls } = landInProcess(whole.origin, 1_000);
  expect({ signal, calls }).toEqual({ signal: null, calls: expect.any(Number) });
  expect(calls).toBeGreaterThan(4);
  for (let nth = 2; nth <= calls; nth++) {
    const it = await bench();
    for (const n of [1, 2]) await it.proposeValues({ [`a/${n}`]: n }, null);
    expect(landInProcess(it.origin, nth)).toEqual({ signal: 'SIGKILL', calls: nth });
    const landed = await new Lander(await it.another()).land([1, 2], NOW);
    expect(landed.map((one) => 'commit' in one)).toEqual([true, true]);
    expect(it.git('log', '--reverse', '--format=%(trailers:key=Change,valueonly,separator=%x2C)', 'main').trim()).toBe(
      '1\n2',
    );
  }
});
