import type { Hono } from 'hono';
import { z } from 'zod';
import { invertDependencies, type Dependents } from '../../domain/dependents';
import { body, parseInput } from '../controlInput';
import { draw, openStream } from '../kernel/random';
import type { Simulation } from '../simulation';

/** `//kv:server`, or `//kv/log`, which is short for `//kv/log:log`. */
const target = z.string().regex(/^\/\/[^:\s]+(:[^:\s]+)?$/, { error: 'expected a target such as //kv:server' });

const MAX_TARGETS = 1_000_000;

/**
 * `POST /control/targets { target, deps }` sets the dependencies of a target. `GET` lists them. `POST /control/monorepo
 * { targets, seed }` replaces them with a random graph of that many targets.
 */
export function addTargetRoutes(app: Hono, simulation: Simulation): void {
  app.post('/targets', async (c) => {
    const spec = parseInput(z.strictObject({ target, deps: z.array(target).default([]) }), await body(c.req.raw));
    const { targets } = simulation.state;
    targets.set(spec.target, spec.deps);
    walked.delete(targets);
    return c.json(spec, 201);
  });
  app.get('/targets', (c) => c.json([...simulation.state.targets].map(([name, deps]) => ({ target: name, deps }))));
  app.post('/monorepo', async (c) => {
    const schema = z.strictObject({ targets: z.int().min(1).max(MAX_TARGETS), seed: z.int().default(1) });
    const asked = parseInput(schema, await body(c.req.raw));
    const { targets } = simulation.state;
    targets.clear();
    for (const [name, deps] of drawMonorepo(asked.targets, asked.seed)) targets.set(name, deps);
    walked.delete(targets);
    return c.json(asked, 201);
  });
}

/** Valid until the targets change. */
const walked = new WeakMap<ReadonlyMap<string, readonly string[]>, Dependents>();

/** The present dependents of each target. */
export function dependentsIn(targets: ReadonlyMap<string, readonly string[]>): Dependents {
  const known = walked.get(targets) ?? invertDependencies(targets);
  walked.set(targets, known);
  return known;
}

/** The share of targets that are libraries; the others are programs, on which no target depends. */
const LIBRARIES = 0.6;
const MOST_DEPENDENCIES = 5;

/**
 * A repository in which few libraries are in nearly everything and most are in little: each target depends on libraries
 * older than itself, and by far most often on the oldest. `//lib/0:lib` is the oldest; programs are `//app/N:main`.
 */
export function drawMonorepo(count: number, seed: number): Map<string, readonly string[]> {
  const stream = openStream(seed, 'monorepo');
  const libraries = Math.max(1, Math.floor(count * LIBRARIES));
  const targets = new Map<string, readonly string[]>();
  for (let n = 0; n < count; n += 1) {
    const older = Math.min(n, libraries);
    const wanted = older === 0 ? 0 : Math.ceil(draw(stream) * MOST_DEPENDENCIES);
    const deps = new Set<string>();
    for (let nth = 0; nth < wanted; nth += 1) deps.add(libraryName(Math.floor(older * draw(stream) ** SKEW)));
    targets.set(n < libraries ? libraryName(n) : `//app/${n - libraries}:main`, [...deps]);
  }
  return targets;
}

/** How strongly the oldest are preferred; 1 means no preference. */
const SKEW = 1.6;

const libraryName = (n: number): string => `//lib/${n}:lib`;

/** A target and everything that it is built from, each once, itself first. A dependency cycle is walked once. */
export function computeClosure(targets: ReadonlyMap<string, readonly string[]>, root: string): string[] {
  const found = new Set([root]);
  for (const next of found) for (const dep of targets.get(next) ?? []) found.add(dep);
  return [...found];
}

/** `//kv:server_test` for `//kv:server`, `//kv/log:log_test` for `//kv/log`. */
export const testOfTarget = (name: string): string =>
  name.includes(':') ? `${name}_test` : `${name}:${name.split('/').at(-1) ?? ''}_test`;
