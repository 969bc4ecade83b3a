import type { Hono } from 'hono';
import { z } from 'zod';
import { refuseTooMuch } from '../../configerator/domain/commits';
import { whyNotConfigPath } from '../../configerator/domain/path';
import { ConveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { ExtensionError } from '../../sdk/server';
import { body, milliseconds, parseInput } from '../controlInput';
import type { Simulation } from '../simulation';
import { addConfigFault, liftConfigFault, meantHosts } from './faults';
import type { ConfigFault } from './faultState';
import { CONFIGERATOR_LIMITS as LIMITS } from './limits';
import { pathIndex } from './paths';
import { openBranch, commitValues, landNow, proposeChange } from './repository';
import { addGroup, countReaders, type GroupSpec } from './subscribers';
import { valueBehaviourSchema, whenSchema } from './valueBehaviour';

/** The part of the control API that is about configuration (docs/reference/fleet.md#configuration). */
export function addConfigRoutes(app: Hono, simulation: Simulation): void {
  addSubscriberRoutes(app, simulation);
  addValueRoutes(app, simulation);
  addFaultRoutes(app, simulation);
}

const CONTROL_NAME = /^[A-Za-z0-9._-]+$/;
const controlName = z
  .string()
  .max(128)
  .regex(CONTROL_NAME, { error: 'expected letters, digits, dots, hyphens and underscores' });
const repository = controlName.default('flags');
const configPath = z.string().superRefine((value, context) => {
  const why = whyNotConfigPath(value);
  if (why !== undefined) context.addIssue({ code: 'custom', message: why });
});
const labels = z.record(z.string().min(1).max(64), z.string().max(256)).default({});
const paths = z.array(configPath).min(1).max(CONFIG_LIMITS.ownedPaths.max);
const subscribersSchema = z.union([
  z.strictObject({ job: z.string().min(1), repository, paths }),
  z.strictObject({
    name: controlName,
    region: controlName,
    labels,
    hosts: z.int().positive().max(LIMITS.hosts),
    repository,
    paths,
  }),
]);

function addSubscriberRoutes(app: Hono, simulation: Simulation): void {
  app.post('/config/subscribers', async (c) => {
    const asked = parseInput(subscribersSchema, await body(c.req.raw));
    const it = simulation.configerator;
    const job = 'job' in asked ? simulation.fleet.jobs.get(asked.job) : undefined;
    if ('job' in asked && job === undefined)
      throw new ExtensionError('unknown-job', `job: no job ${asked.job}`, { status: 404 });
    const there = 'job' in asked ? asked.job : asked.name;
    const isTaken = it.state.groups.some((group) => group.name === there && group.repository === asked.repository);
    if (isTaken)
      throw new ExtensionError('subscribers-exist', `name: ${there} subscribes to ${asked.repository} already`, {
        status: 409,
      });
    const { region, size } = job ?? {
      region: 'region' in asked ? asked.region : '',
      size: 'hosts' in asked ? asked.hosts : 0,
    };
    refuseMore('hosts', it.state.hostCount + size, LIMITS.hosts);
    refuseMore('name', it.state.groups.length + 1, LIMITS.groups);
    if (!it.state.regions.has(region)) refuseMore('region', it.state.regions.size + 1, LIMITS.regions);
    const own = 'labels' in asked ? asked.labels : (job?.labels ?? {});
    const spec: GroupSpec = {
      ...{
        name: there,
        region,
        size,
        repository: asked.repository,
        labels: { ...own, region },
        job: job?.name ?? null,
      },
      paths: [...new Set(asked.paths)].map((one) => pathIndex(it.state, asked.repository, one)),
    };
    addGroup(it, spec, job);
    return c.json({ name: there, repository: asked.repository, paths: asked.paths, region, hosts: size }, 201);
  });
  app.get('/config/subscribers', (c) => {
    const of = parseInput(configPath, c.req.query('path'), 'path');
    const from = parseInput(repository, c.req.query('repository'), 'repository');
    return c.json(countReaders(simulation.configerator, pathIndex(simulation.configerator.state, from, of)));
  });
}

/** Values as JSON; a text is taken unchanged. */
const values = z
  .record(z.string(), z.union([z.json(), z.null()]))
  .transform((given) =>
    Object.fromEntries(Object.entries(given).map(([at, value]) => [at, value === null ? null : JSON.stringify(value)])),
  );
const valuesSchema = z.strictObject({ repository, values });
const commitSchema = z.union([valuesSchema, z.strictObject({ repository, change: z.int().positive() })]);

function addValueRoutes(app: Hono, simulation: Simulation): void {
  app.post('/config/commits', async (c) => {
    const asked = parseInput(commitSchema, await body(c.req.raw));
    const { configerator: it } = simulation;
    const { repository: to } = asked;
    refuseMore('values', openBranch(it, to).commits.length + 1, LIMITS.changes);
    if ('values' in asked) refuseValues(asked.values);
    const { commit, sequence } = 'values' in asked ? commitValues(it, to, asked.values) : landNow(it, to, asked.change);
    return c.json({ repository: to, commit, sequence }, 201);
  });
  app.post('/config/changes', async (c) => {
    const { repository: to, values: given } = parseInput(valuesSchema, await body(c.req.raw));
    refuseValues(given);
    const it = simulation.configerator;
    refuseMore('values', openBranch(it, to).changes.length + 1, LIMITS.changes);
    const { number, version } = proposeChange(it, to, given);
    return c.json({ repository: to, change: number, version }, 201);
  });
  app.post('/config/behaviours', async (c) => {
    const asked = parseInput(behavioursSchema, await body(c.req.raw));
    const { state } = simulation.configerator;
    refuseMore('behaviour', state.behaviours.length + 1, LIMITS.behaviours);
    const { repository: from, path: of, when, version, behaviour } = asked;
    const index = pathIndex(state, from, of);
    const key = JSON.stringify([index, when, version ?? null]);
    const { now } = simulation.world;
    state.behaviours.push({ since: now, key, of: index, when, version: version ?? null, spec: behaviour });
    return c.json(asked);
  });
}

const behavioursSchema = z.strictObject({
  repository,
  path: configPath,
  when: whenSchema,
  version: z.string().min(1).max(256).optional(),
  behaviour: valueBehaviourSchema,
});

const downMs = milliseconds.optional();
const meant = {
  hosts: z.array(z.string()).min(1).max(CONFIG_LIMITS.hosts.max).optional(),
  region: z.string().optional(),
  share: z.number().gt(0).max(1).default(1),
  downMs,
};
const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('leader'), downMs: downMs.default(10_000) }),
  z.strictObject({ kind: z.literal('observer'), id: z.string(), downMs }),
  z.strictObject({ kind: z.literal('partition'), id: z.string(), downMs }),
  z.strictObject({ kind: z.literal('proxy-slow'), delayMs: milliseconds.max(3_600_000), ...meant }),
  z.strictObject({ kind: z.literal('proxy-restart'), ...meant, downMs: downMs.default(5_000) }),
  z.strictObject({ kind: z.literal('proxy-disk'), ...meant }),
]);
type FaultInput = z.infer<typeof faultSchema>;

function addFaultRoutes(app: Hono, simulation: Simulation): void {
  app.post('/config/faults', async (c) => {
    const asked = parseInput(faultSchema, await body(c.req.raw));
    const { configerator: it } = simulation;
    refuseMore('kind', it.state.faults.size + 1, LIMITS.faults);
    const fault = toFault(simulation, asked, `config-fault-${it.state.faultCount + 1}`);
    it.state.faultCount += 1;
    addConfigFault(it, fault, asked.downMs);
    return c.json({ id: fault.id }, 201);
  });
  app.delete('/config/faults/:id', (c) => {
    const id = c.req.param('id');
    if (!liftConfigFault(simulation.configerator, id))
      throw new ExtensionError('unknown-fault', `no fault ${id}, or it is over`, { status: 404 });
    return c.json({});
  });
}

function toFault({ configerator: it }: Simulation, asked: FaultInput, id: string): ConfigFault {
  switch (asked.kind) {
    case 'leader':
      return { id, kind: asked.kind };
    case 'observer': {
      const observer = it.state.observers.findIndex((one) => one.name === asked.id);
      if (observer < 0) throw unknownPlace('observer', asked.id);
      return { id, kind: asked.kind, observer };
    }
    case 'partition':
      if (!it.state.regions.has(asked.id)) throw unknownPlace('region with subscribers', asked.id);
      return { id, kind: asked.kind, region: asked.id };
    default: {
      const hosts = meantHosts(it, id, asked);
      if (hosts.length === 0)
        throw new ExtensionError('unknown-host', 'hosts: it means none that is there', { status: 404 });
      return asked.kind === 'proxy-slow'
        ? { id, kind: asked.kind, hosts, delayMs: asked.delayMs }
        : { id, kind: asked.kind, hosts };
    }
  }
}

const unknownPlace = (what: string, id: string): ExtensionError =>
  new ExtensionError('unknown-place', `id: there is no ${what} ${id}`, { status: 404 });

function refuseMore(field: string, wanted: number, most: number): void {
  if (wanted > most) throw new ExtensionError('invalid-request', `${field}: a world has at most ${most}`);
}

function refuseValues(given: Readonly<Record<string, string | null>>): void {
  try {
    refuseTooMuch(Object.entries(given).map(([at, value]) => ({ path: at, value })));
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    throw new ExtensionError('invalid-request', `values: ${error.message}`);
  }
}
