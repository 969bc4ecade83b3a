import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Git } from '../configerator/repository/git';
import { makeCommits } from '../configerator/repository/newCommits';
import { Lander } from '../configerator/repository/land';
import { ConfigRepository } from '../configerator/repository/repository';
import { CONFIG_LIMITS } from '../domain/limits';
import { print } from './stack';

/**
 * `npx jiti bench/landing.ts [changes] [seconds] [seconds of the naive way] [writers]`: that many changes to different files, all proposed on one
 * commit, land in the batches of the landing strip, within the given seconds. Then the naive way without a strip, on a similar repository: writers
 * with a shared clone and a work tree each fetch, rebase and push, and repeat if another writer was first.
 */
const CHANGES = Number(process.argv[2] ?? 10_000);
const SECONDS = Number(process.argv[3] ?? 200);
const NAIVE_SECONDS = Number(process.argv[4] ?? 60);
const WRITERS = Number(process.argv[5] ?? 8);

const AUTHOR = 'user:bench';

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-bench-landing-'));
  try {
    const strip = await land(join(folder, 'strip'));
    const naive = await race(join(folder, 'naive'));
    print([
      ['changes proposed on one commit', String(CHANGES)],
      ['landing strip: landed, refused', `${strip.landed}, ${strip.refused}`],
      ['landing strip: changes a second', rate(strip)],
      [`${WRITERS} writers, a shared clone: landed`, String(naive.landed)],
      ['shared clone: pushes that came too late', String(naive.late)],
      ['shared clone: changes a second', rate(naive)],
      ['ratio', (strip.landed / strip.seconds / (naive.landed / naive.seconds)).toFixed(1)],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ran {
  readonly landed: number;
  readonly seconds: number;
}

const rate = ({ landed, seconds }: Ran): string => `${(landed / seconds).toFixed(1)} (in ${seconds.toFixed(0)} s)`;

/** A repository with one value in each of 100 folders, from which every writer starts. */
async function origin(folder: string): Promise<{ readonly git: Git; readonly first: string }> {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  const git = new Git(folder, 'bench');
  const files = Array.from({ length: 100 }, (_, n) => ({ path: `base/${n}.json`, text: `${n}\n` }));
  const commit = { parent: null, author: AUTHOR, message: 'Begin', files };
  const [first = ''] = await makeCommits(git, 'refs/heads/main', [commit], Date.now());
  return { git, first };
}

/** The time of proposals does not count: authors make them independently, before any waiting. */
async function land(folder: string): Promise<Ran & { readonly refused: number }> {
  const { git, first } = await origin(folder);
  const commits = Array.from({ length: CHANGES }, (_, n) => {
    const text = `${n}\n`;
    const files = [`team${n % 500}/value${n}.json`, `values/team${n % 500}/value${n}.json`];
    return { parent: first, author: AUTHOR, message: `Set ${n}`, files: files.map((path) => ({ path, text })) };
  });
  const made = await makeCommits(git, 'refs/drafts/bench', commits, Date.now());
  await git.text(
    ['update-ref', '--stdin'],
    made.map((commit, n) => `create refs/changes/${n + 1} ${commit}\n`).join(''),
  );
  const ref = { name: 'bench', git: folder, branch: 'main' };
  const lander = new Lander(await ConfigRepository.open(ref, `${folder}-copies`));
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let [landed, refused] = [0, 0];
  for (let at = 1; at <= CHANGES && seconds() < SECONDS; at += CONFIG_LIMITS.landingTogether.max) {
    const length = Math.min(CONFIG_LIMITS.landingTogether.max, CHANGES - at + 1);
    const batch = Array.from({ length }, (_, n) => at + n);
    for (const one of await lander.land(batch, Date.now())) {
      if ('commit' in one) landed += 1;
      else refused += 1;
    }
  }
  return { landed, refused, seconds: seconds() };
}

/** Each writer commits and pushes, and on a refusal fetches, rebases and pushes again. */
async function race(folder: string): Promise<Ran & { readonly late: number }> {
  const { git } = await origin(folder);
  const clone = `${folder}-clone`;
  execFileSync('git', ['clone', '--quiet', folder, clone]);
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const counts = { late: 0, next: 0 };
  const writer = async (name: string): Promise<void> => {
    const tree = `${clone}-${name}`;
    execFileSync('git', ['-C', clone, 'worktree', 'add', '--quiet', '-b', name, tree, 'origin/main']);
    while (counts.next < CHANGES && seconds() < NAIVE_SECONDS) {
      const n = counts.next++;
      writeFileSync(join(tree, `value${n}.json`), `${n}\n`);
      await run(tree, 'add', '.');
      await run(tree, 'commit', '--quiet', '-m', `Set ${n}`);
      while (!(await run(tree, 'push', '--quiet', 'origin', `${name}:main`)) && seconds() < NAIVE_SECONDS) {
        counts.late += 1;
        // A shared clone has one lock, so only one fetch at a time succeeds.
        await run(tree, 'fetch', '--quiet', 'origin');
        await run(tree, 'rebase', '--quiet', 'origin/main');
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(`writer${n}`)));
  const landed = Number(await git.text(['rev-list', '--count', 'main'])) - 1;
  return { landed, late: counts.late, seconds: seconds() };
}

/** Whether it succeeded. */
function run(tree: string, ...args: readonly string[]): Promise<boolean> {
  const settings = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0'];
  const child = spawn('git', ['-C', tree, ...settings, ...args], { stdio: 'ignore' });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve(code === 0)));
}

void main();
