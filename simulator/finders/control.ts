import type { Hono } from 'hono';
import { z } from 'zod';
import { body, parseInput } from '../controlInput';
import type { Simulation } from '../simulation';
import { addCommit, publish, publishBuild, publishTag, catalogKey } from './artifactCatalog';

const nonEmptyText = z.string().min(1);

const commitSchema = z.strictObject({
  repository: nonEmptyText,
  branch: nonEmptyText,
  revision: nonEmptyText,
  passed: z.boolean().default(true),
  author: nonEmptyText.optional(),
  message: nonEmptyText.optional(),
  committedAt: nonEmptyText.optional(),
});

const buildSchema = z.strictObject({
  /** Such as `kv:12`, which belongs to the package `kv` unless another one is named. */
  version: nonEmptyText,
  package: nonEmptyText.optional(),
  target: nonEmptyText.optional(),
  repository: nonEmptyText.optional(),
  revision: nonEmptyText.optional(),
  tag: nonEmptyText.optional(),
});

/** The artifacts that finders find, in addition to those of the build and package services: commits, builds, models, configs. */
export function addArtifactRoutes(app: Hono, simulation: Simulation): void {
  const put = (key: string, kind: string, version: string): void =>
    publish(simulation.state, simulation.world.now, key, { kind, version, metadata: {} });
  app.post('/commits', async (c) => {
    const { repository, branch, revision, passed, author, message, committedAt } = parseInput(
      commitSchema,
      await body(c.req.raw),
    );
    const known = { ...(author ? { author } : {}), ...(message ? { message } : {}) };
    const commit = { revision, passed, ...known, ...(committedAt ? { committedAt } : {}) };
    addCommit(simulation.state, simulation.world.now, repository, branch, commit);
    return c.json({ repository, branch, ...commit }, 201);
  });
  app.post('/builds', async (c) => {
    const build = parseInput(buildSchema, await body(c.req.raw));
    addBuild(simulation, build);
    return c.json(build, 201);
  });
  app.post('/models', async (c) => {
    const { model, version } = parseInput(
      z.strictObject({ model: nonEmptyText, version: nonEmptyText }),
      await body(c.req.raw),
    );
    put(catalogKey('model-versions', model), 'model', version);
    return c.json({ model, version }, 201);
  });
  app.post('/configs', async (c) => {
    const { path, version } = parseInput(
      z.strictObject({ path: nonEmptyText, version: nonEmptyText }),
      await body(c.req.raw),
    );
    put(catalogKey('config-changes', path), 'config', version);
    return c.json({ path, version }, 201);
  });
}

function addBuild(simulation: Simulation, build: z.output<typeof buildSchema>): void {
  const { version, target, tag } = build;
  const [name = version, revision = version] = version.split(':');
  const built = {
    name: build.package ?? name,
    kind: 'executable',
    version,
    builtFrom: {
      repository: build.repository ?? name,
      revision: build.revision ?? revision,
      ...(target === undefined ? {} : { target }),
    },
    metadata: {},
  };
  const { state, world } = simulation;
  publishBuild(state, world.now, built, build.package);
  if (tag !== undefined) publishTag(state, world.now, built, tag, build.package);
}
