import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ExtensionError } from '../sdk/server';
import { z } from 'zod';
import { parseAmount, type Amount } from '../domain/fleet/amount';
import { body, check } from './controlInput';
import { addTargetRoutes } from './actions/targets';
import { addArtifactRoutes } from './finders/control';
import { controllerSchema } from './controllers/spec';
import { httpFaultSchema } from './httpFaults';
import { behaviourSchema } from './metrics/behaviour';
import { metricWorld, STEP_MS } from './metrics/series';
import { queryMetrics } from './metrics/store';

import type { Simulation } from './simulation';
import { addFault, liftFault } from './twine/faults';
import type { Job } from './twine/job';
import { addJob, resizeJob, viewJob } from './twine/jobs';
import { announce } from './twine/maintenance';
import { parsePlace, type FaultPlace } from './twine/topology';

const MAX_TASKS = 2_000_000;
/** A world of 500,000 tasks is some tens of MB as text. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** The control API of the simulated world (fleet.md): what scripts and tests set up and look at. */
export function controlApi(simulation: Simulation): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    const known = error instanceof ExtensionError ? error : undefined;
    const { code, status } = known ?? { code: 'internal', status: 500 };
    return c.json({ error: { code, message: error.message, retryable: false } }, status as 400);
  });
  app.use(bodyLimit({ maxSize: MAX_SNAPSHOT_BYTES }));
  addJobRoutes(app, simulation);
  addTroubleRoutes(app, simulation);
  addArtifactRoutes(app, simulation);
  addTargetRoutes(app, simulation);
  addBookRoutes(app, simulation);
  addWorldRoutes(app, simulation);
  return app;
}

const size = z.number().int().nonnegative().max(MAX_TASKS);
const ms = z.number().nonnegative();
const amount = z.union([z.number(), z.string()]).transform((value, context): Amount => {
  const parsed = value === 0 ? { count: 0 } : parseAmount(value);
  if (parsed) return parsed;
  context.addIssue({ code: 'custom', message: 'expected a count such as 3 or a percentage such as 5%' });
  return z.NEVER;
});

const jobSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9._-]+$/, { error: 'expected letters, digits, dots, hyphens and underscores' }),
  service: z.string().min(1).optional(),
  region: z.string().min(1),
  labels: z.record(z.string(), z.string()).default({}),
  tasks: size,
  version: z.string().min(1),
  nSmall: amount.default({ percent: 10 }),
  budget: amount.default({ percent: 20 }),
  timings: z
    .strictObject({ fetchMs: ms.default(3000), stopMs: ms.default(1000), startMs: ms.default(6000) })
    .default({ fetchMs: 3000, stopMs: 1000, startMs: 6000 }),
  controller: controllerSchema.optional(),
  hotswap: z
    .union([
      z.boolean().transform((on) => (on ? { taskMb: 1000, containerMb: 2000 } : null)),
      z.strictObject({ taskMb: z.number().positive().default(1000), containerMb: z.number().positive() }),
    ])
    .default(null),
  autoscale: z
    .strictObject({
      min: size.min(1),
      max: size,
      targetCpu: z.number().gt(0).max(1).default(0.4),
      everyMs: z.number().positive().default(60_000),
    })
    .refine(({ min, max }) => min <= max, { error: 'min is more than max' })
    .optional(),
});

/** What a controller is told about its job's tasks must fit into one body. */
const MAX_CONTROLLED_TASKS = 20_000;

function checkSize(tasks: number, control: object | null | undefined): void {
  if (control && tasks > MAX_CONTROLLED_TASKS)
    throw new ExtensionError('invalid-request', `tasks: a job with a controller has at most ${MAX_CONTROLLED_TASKS}`);
}

function addJobRoutes(app: Hono, simulation: Simulation): void {
  const find = (name: string): Job => {
    const job = simulation.fleet.jobs.get(name);
    if (job) return job;
    throw new ExtensionError('unknown-job', `no job ${name}`, { status: 404 });
  };
  app.post('/jobs', async (c) => {
    const { tasks, service, controller, autoscale, ...spec } = check(jobSchema, await body(c.req.raw));
    checkSize(Math.max(tasks, autoscale?.max ?? 0), controller);
    if (simulation.fleet.jobs.has(spec.name))
      throw new ExtensionError('job-exists', `name: there is a job ${spec.name} already`, { status: 409 });
    const job = addJob(simulation, {
      ...{ ...spec, size: tasks, service: service ?? spec.name, control: controller ?? null },
      autoscale: autoscale ? { ...autoscale, nominal: tasks } : null,
    });
    return c.json(viewJob(simulation, job), 201);
  });
  app.get('/jobs', (c) => c.json([...simulation.fleet.jobs.values()].map((job) => viewJob(simulation, job))));
  app.get('/jobs/:name', (c) => c.json(viewJob(simulation, find(c.req.param('name')))));
  app.patch('/jobs/:name', async (c) => {
    const job = find(c.req.param('name'));
    const { tasks } = check(z.strictObject({ tasks: size }), await body(c.req.raw));
    checkSize(tasks, job.control);
    resizeJob(simulation, job, tasks);
    return c.json(viewJob(simulation, job));
  });
}

const placeFault = z.strictObject({
  kind: z.enum(['machine', 'msb', 'datacentre', 'region']),
  id: z.string().min(1),
  downMs: ms.optional(),
});
const schedulerFault = z.strictObject({ kind: z.literal('scheduler'), id: z.string().min(1), downMs: ms.optional() });
const maintenance = z.strictObject({
  kind: z.literal('maintenance'),
  machines: z.array(z.string()).min(1),
  startMs: ms,
  durationMs: ms,
  deadlineMs: ms,
});
const faultSchema = z.discriminatedUnion('kind', [placeFault, schedulerFault, maintenance, httpFaultSchema]);

function addTroubleRoutes(app: Hono, simulation: Simulation): void {
  app.post('/versions', async (c) => {
    const { version, behaviour } = check(
      z.strictObject({ version: z.string().min(1), behaviour: behaviourSchema }),
      await body(c.req.raw),
    );
    const { behaviours } = simulation.state;
    behaviours.set(version, [...(behaviours.get(version) ?? []), { since: simulation.world.now, spec: behaviour }]);
    return c.json({ version, behaviour });
  });
  app.post('/faults', async (c) => {
    const fault = check(faultSchema, await body(c.req.raw));
    simulation.state.faultCount += 1;
    const id = `fault-${simulation.state.faultCount}`;
    if (fault.kind === 'http') {
      const { count, ...rest } = fault;
      simulation.state.httpFaults.set(id, { ...rest, left: count ?? null });
      return c.json({ id }, 201);
    }
    if (fault.kind === 'maintenance') {
      const machines = fault.machines.map((name, index) => placeOf('machine', name, `machines.${index}`));
      announce(simulation, { ...fault, id, machines });
    } else if (fault.kind === 'scheduler')
      addFault(simulation, { kind: 'scheduler', region: fault.id, id }, fault.downMs);
    else addFault(simulation, { ...placeOf(fault.kind, fault.id, 'id'), id }, fault.downMs);
    return c.json({ id }, 201);
  });
  app.delete('/faults/:id', (c) => {
    const id = c.req.param('id');
    if (!simulation.state.httpFaults.delete(id) && !liftFault(simulation, id))
      throw new ExtensionError('unknown-fault', `no fault ${id}, or it is over`, { status: 404 });
    return c.json({});
  });
}

function placeOf(kind: FaultPlace['kind'], name: string, field: string): FaultPlace {
  const place = parsePlace(kind, name);
  if (place) return place;
  throw new ExtensionError('invalid-request', `${field}: ${name} does not name a ${kind}`);
}

function addBookRoutes(app: Hono, simulation: Simulation): void {
  app.get('/ledger', (c) => {
    const since = check(z.coerce.number(), c.req.query('since') ?? '0', 'since');
    return c.json(simulation.state.ledger.filter(({ at }) => at >= since));
  });
  app.get('/violations', (c) => c.json(simulation.state.violations));
  app.get('/metrics', (c) => {
    const { now } = simulation.world;
    const step = STEP_MS / simulation.speed;
    const time = z.coerce.number();
    const end = check(time, c.req.query('to') ?? String(now), 'to');
    const start = check(time, c.req.query('from') ?? String(end - 10 * step), 'from');
    const unit = check(z.string(), c.req.query('job'), 'job');
    const metric = check(z.string(), c.req.query('metric'), 'metric');
    return c.json({
      series: queryMetrics(metricWorld(simulation), now, { metric, selector: { unit }, start, end, step }),
    });
  });
}

function addWorldRoutes(app: Hono, simulation: Simulation): void {
  app.get('/snapshot', (c) => c.json({ snapshot: simulation.save() }));
  app.post('/snapshot', async (c) => {
    const { snapshot } = check(z.strictObject({ snapshot: z.string() }), await body(c.req.raw));
    try {
      simulation.load(snapshot);
    } catch {
      throw new ExtensionError('invalid-request', 'snapshot: not what GET /control/snapshot gives');
    }
    return c.json({});
  });
  app.post('/reset', async (c) => {
    const { kernel } = simulation.world;
    const schema = z.strictObject({
      seed: z.number().int().default(kernel.seed),
      speed: z.number().positive().default(kernel.speed),
      pace: z.strictObject({ perMinute: z.number().positive(), burst: z.number().int().positive() }).optional(),
    });
    const { pace, ...options } = check(schema, await body(c.req.raw));
    simulation.reset(options);
    if (pace) simulation.fleet.paceLimit = pace;
    return c.json({ ...options, ...(pace && { pace }) });
  });
}
