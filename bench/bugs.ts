import { pathDown, walkDependents } from '../domain/dependents';
import {
  listBuiltTargets,
  hitAmong,
  formatBuiltKey,
  type AffectedBuild,
  type TargetBuild,
} from '../features/bugs/domain/hits';
import { callExtension, viaApp } from '../sdk/client';
import { dependencyGraphProtocol, MAX_BUILT_TARGETS } from '../sdk/protocol/dependencyGraph';
import { createSimulator } from '../simulator/app';
import { dependentsIn, drawMonorepo } from '../simulator/monorepo/targets';
import type { Artifact } from '../domain/artifact';

/**
 * `npx jiti bench/bugs.ts [seed]`: in a monorepo of 100,000 targets, a library with about 12,000 dependents has a bug. It measures how long it takes
 * to find which artifacts of 30,000 pipelines contain it, over the protocol and in this process; and how many bugs reach how many programs.
 */
const TARGETS = 100_000;
const PIPELINES = 30_000;
const DEPENDENTS = 12_000;
const DEPTH = 14;
const ROUNDS = 5;

async function main(): Promise<void> {
  const seed = Number(process.argv[2] ?? 1);
  const simulator = createSimulator({ seed, speed: 1, now: () => 0 });
  const { targets } = simulator.simulation.state;
  for (const [name, deps] of drawMonorepo(TARGETS, seed)) targets.set(name, deps);
  const programs = [...targets.keys()].filter((name) => name.startsWith('//app/')).slice(0, PIPELINES);
  const artifacts = programs.map((target, n): Artifact => ({
    ...{ name: 'executable', kind: 'executable', version: `app:${n}`, metadata: {} },
    builtFrom: { repository: 'mono', revision: '12', target },
  }));
  const library = libraryWith(targets, DEPENDENTS);
  const ms: number[] = [];
  let hits = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    hits = await affectedArtifacts(viaApp(simulator.app), library, artifacts);
    ms.push(performance.now() - startedAt);
  }
  const truth = walkDependents(dependentsIn(targets), library, DEPTH);
  const expected = programs.filter((name) => truth.has(name)).length;
  if (hits !== expected) throw new Error(`${hits} were found, and ${expected} contain it`);
  console.log(`${library}: ${truth.size} dependents; ${hits} of ${programs.length} artifacts contain it`);
  console.log(`found in ${ms.map((one) => one.toFixed(0)).join(', ')} ms`);
  console.log(byDepth(targets, library).join('\n'));
  console.log(spread(targets, programs).join('\n'));
}

/** Asks as the search of a bug does. */
async function affectedArtifacts(fetch: ReturnType<typeof viaApp>, target: string, artifacts: readonly Artifact[]) {
  const built: readonly TargetBuild[] = listBuiltTargets(artifacts);
  const affected = new Map<string, AffectedBuild>();
  const service = { name: 'builds', url: 'http://simulator/dependency-graph', timeoutMs: 10_000 };
  for (let at = 0; at < built.length; at += MAX_BUILT_TARGETS) {
    const among = built.slice(at, at + MAX_BUILT_TARGETS);
    const answer = await callExtension({
      ...{ service, protocol: dependencyGraphProtocol, method: 'getDependents', fetch },
      request: { target, revisions: { from: '3' }, depth: DEPTH, among: [...among] },
      context: { pipeline: '', release: 0, deployId: 'bug/1', actor: 'service:conveyor', config: {} },
    });
    for (const one of answer.affected) affected.set(formatBuiltKey(one), one);
  }
  return artifacts.filter((artifact) => hitAmong([artifact], affected) !== undefined).length;
}

/** The library whose number of dependents is closest. */
function libraryWith(targets: ReadonlyMap<string, readonly string[]>, wanted: number): string {
  const dependents = dependentsIn(targets);
  let best = { name: '', off: Infinity };
  for (let n = 1; n < 60_000 && best.off > wanted / 50; n = Math.ceil(n * 1.03)) {
    const name = `//lib/${n}:lib`;
    const off = Math.abs(walkDependents(dependents, name, DEPTH).size - wanted);
    if (off < best.off) best = { name, off };
  }
  return best.name;
}

/** The dependents that walks of limited depth find. */
function byDepth(targets: ReadonlyMap<string, readonly string[]>, library: string): string[] {
  const dependents = dependentsIn(targets);
  const all = walkDependents(dependents, library, 1_000);
  const longest = Math.max(...[...all.keys()].map((name) => pathDown(all, name).length - 1));
  return [3, DEPTH, longest].map((depth) => {
    const found = walkDependents(dependents, library, depth).size;
    return `depth ${depth}: ${found} of ${all.size} dependents, ${((100 * found) / all.size).toFixed(1)}%`;
  });
}

/** With bugs in every 500th library: the number of programs that contain each. */
function spread(targets: ReadonlyMap<string, readonly string[]>, programs: readonly string[]): string[] {
  const dependents = dependentsIn(targets);
  const counts = Array.from({ length: 120 }, (_, n) => {
    const reached = walkDependents(dependents, `//lib/${n * 500}:lib`, DEPTH);
    return programs.filter((name) => reached.has(name)).length;
  }).sort((a, b) => a - b);
  return [0.1, 0.25, 0.5, 0.75, 0.85, 0.95].map(
    (share) =>
      `of ${counts.length} bugs ${share * 100}% reach at most ${counts[Math.floor(share * counts.length)]} programs`,
  );
}

void main();
