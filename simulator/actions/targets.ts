import type { Hono } from 'hono';
import { z } from 'zod';
import { body, parseInput } from '../controlInput';
import type { Simulation } from '../simulation';

/** `//kv:server`, or `//kv/log`, which is short for `//kv/log:log`. */
const target = z.string().regex(/^\/\/[^:\s]+(:[^:\s]+)?$/, { error: 'expected a target such as //kv:server' });

/** `POST /control/targets { target, deps }`: what a target is built from. `GET` lists them. */
export function addTargetRoutes(app: Hono, simulation: Simulation): void {
  app.post('/targets', async (c) => {
    const spec = parseInput(z.strictObject({ target, deps: z.array(target).default([]) }), await body(c.req.raw));
    simulation.state.targets.set(spec.target, spec.deps);
    return c.json(spec, 201);
  });
  app.get('/targets', (c) => c.json([...simulation.state.targets].map(([name, deps]) => ({ target: name, deps }))));
}

/** A target and everything that it is built from, each once, itself first. A circle of dependencies is gone through once. */
export function closureOf(targets: ReadonlyMap<string, readonly string[]>, root: string): string[] {
  const found = new Set([root]);
  for (const next of found) for (const dep of targets.get(next) ?? []) found.add(dep);
  return [...found];
}

/** `//kv:server_test` of `//kv:server`, `//kv/log:log_test` of `//kv/log`. */
export const testOfTarget = (name: string): string =>
  name.includes(':') ? `${name}_test` : `${name}:${name.split('/').at(-1) ?? ''}_test`;
