import { Hono } from 'hono';
import { limitBody } from '../sdk/bodyLimit';
import { ExtensionError } from '../sdk/server';
import { z } from 'zod';
import { addConfigRoutes } from './configerator/control';
import { body, parseInput, milliseconds } from './controlInput';
import { addJobRoutes } from './controlJobs';
import { addArtifactRoutes } from './finders/control';
import { newHttpFault, httpFaultSchema } from './httpFault';
import { behaviourSchema } from './metrics/behaviour';
import { reportSchema, takeReport } from './metrics/reported';
import { metricWorld, STEP_MS } from './metrics/series';
import { queryMetrics } from './metrics/store';
import { addTargetRoutes } from './monorepo/targets';
import { SPEED_RANGE, type Simulation } from './simulation';
import { addTicketRoutes } from './tickets/tickets';
import { addFault, liftFault } from './twine/faults';
import { announceMaintenance } from './twine/maintenance';
import { MSBS_PER_DATACENTRE, parsePlace, type FaultPlace } from './twine/topology';

/** A world of 500,000 tasks is some tens of MB as text. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** The control API of the simulated world (docs/reference/fleet.md#control-api): scripts and tests use it to set up and inspect the world. */
export function controlApi(simulation: Simulation): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    const known = error instanceof ExtensionError ? error : undefined;
    const { code, status } = known ?? { code: 'internal', status: 500 };
    return c.json({ error: { code, message: error.message, retryable: false } }, status as 400);
  });
  const onError = () => {
    throw new ExtensionError('too-large', 'a snapshot is at most 512 MiB', { status: 413 });
  };
  app.use(limitBody({ maxSize: MAX_SNAPSHOT_BYTES, onError }));
  addJobRoutes(app, simulation);
  addTroubleRoutes(app, simulation);
  addArtifactRoutes(app, simulation);
  addTargetRoutes(app, simulation);
  addTicketRoutes(app, simulation);
  addConfigRoutes(app, simulation);
  addBookRoutes(app, simulation);
  addWorldRoutes(app, simulation);
  return app;
}

const placeFault = z.strictObject({
  kind: z.enum(['machine', 'msb', 'datacentre', 'region']),
  id: z.string().min(1),
  downMs: milliseconds.optional(),
});
const schedulerFault = z.strictObject({
  kind: z.literal('scheduler'),
  id: z.string().min(1),
  downMs: milliseconds.optional(),
});
const maintenance = z.strictObject({
  kind: z.literal('maintenance'),
  machines: z.array(z.string()).min(1),
  startMs: milliseconds,
  durationMs: milliseconds,
  deadlineMs: milliseconds,
});
const faultSchema = z.discriminatedUnion('kind', [placeFault, schedulerFault, maintenance, httpFaultSchema]);

function addTroubleRoutes(app: Hono, simulation: Simulation): void {
  app.post('/versions', async (c) => {
    const { version, behaviour } = parseInput(
      z.strictObject({ version: z.string().min(1), behaviour: behaviourSchema }),
      await body(c.req.raw),
    );
    const { behaviours } = simulation.state;
    behaviours.set(version, [...(behaviours.get(version) ?? []), { since: simulation.world.now, spec: behaviour }]);
    return c.json({ version, behaviour });
  });
  app.post('/faults', async (c) => {
    const fault = parseInput(faultSchema, await body(c.req.raw));
    simulation.state.faultCount += 1;
    const id = `fault-${simulation.state.faultCount}`;
    if (fault.kind === 'http') {
      simulation.state.httpFaults.set(id, newHttpFault(fault));
      return c.json({ id }, 201);
    }
    if (fault.kind === 'maintenance') {
      const machines = fault.machines.map((name, index) => requirePlace('machine', name, `machines.${index}`));
      announceMaintenance(simulation, { ...fault, id, machines });
    } else if (fault.kind === 'scheduler')
      addFault(simulation, { kind: 'scheduler', region: fault.id, id }, fault.downMs);
    else addFault(simulation, { ...requirePlace(fault.kind, fault.id, 'id'), id }, fault.downMs);
    return c.json({ id }, 201);
  });
  app.delete('/faults/:id', (c) => {
    const id = c.req.param('id');
    if (!simulation.state.httpFaults.delete(id) && !liftFault(simulation, id))
      throw new ExtensionError('unknown-fault', `no fault ${id}, or it is over`, { status: 404 });
    return c.json({});
  });
}

function requirePlace(kind: FaultPlace['kind'], name: string, field: string): FaultPlace {
  const place = parsePlace(kind, name);
  if (place) return place;
  throw new ExtensionError('invalid-request', `${field}: ${name} does not name a ${kind}`);
}

function addBookRoutes(app: Hono, simulation: Simulation): void {
  app.get('/ledger', (c) => {
    const since = parseInput(z.coerce.number(), c.req.query('since') ?? '0', 'since');
    return c.json(simulation.state.ledger.filter(({ at }) => at >= since));
  });
  app.get('/violations', (c) => c.json(simulation.state.violations));
  app.post('/metrics', async (c) => {
    takeReport(simulation.state.reported, simulation.world.now, parseInput(reportSchema, await body(c.req.raw)));
    return c.json({});
  });
  app.get('/metrics', (c) => {
    const { now } = simulation.world;
    const step = STEP_MS / simulation.speed;
    const time = z.coerce.number();
    const end = parseInput(time, c.req.query('to') ?? String(now), 'to');
    const start = parseInput(time, c.req.query('from') ?? String(end - 10 * step), 'from');
    const unit = parseInput(z.string(), c.req.query('job'), 'job');
    const metric = parseInput(z.string(), c.req.query('metric'), 'metric');
    return c.json({
      series: queryMetrics(metricWorld(simulation), now, { metric, selector: { unit }, start, end, step }),
    });
  });
}

/** The power layout of a region; a region that is not named has twelve main switch boards in three datacentres. */
const layoutSchema = z
  .strictObject({ msbs: z.number().int().positive(), datacentres: z.number().int().positive().optional() })
  .transform(({ msbs, datacentres }) => ({ msbs, datacentres: datacentres ?? Math.ceil(msbs / MSBS_PER_DATACENTRE) }))
  .refine(({ msbs, datacentres }) => datacentres <= msbs, { error: 'more datacentres than main switch boards' });

const resetSchema = z.strictObject({
  pace: z.strictObject({ perMinute: z.number().positive(), burst: z.number().int().positive() }).optional(),
  regions: z.record(z.string().min(1), layoutSchema).optional(),
});

function addWorldRoutes(app: Hono, simulation: Simulation): void {
  app.get('/snapshot', (c) => c.json({ snapshot: simulation.save() }));
  app.post('/snapshot', async (c) => {
    const { snapshot } = parseInput(z.strictObject({ snapshot: z.string() }), await body(c.req.raw));
    try {
      simulation.load(snapshot);
    } catch {
      throw new ExtensionError('invalid-request', 'snapshot: not what GET /control/snapshot gives');
    }
    return c.json({});
  });
  app.post('/reset', async (c) => {
    const { kernel } = simulation.world;
    const schema = resetSchema.extend({
      seed: z.number().int().default(kernel.seed),
      speed: z.number().min(SPEED_RANGE.min).max(SPEED_RANGE.max).default(kernel.speed),
    });
    const { pace, regions, ...options } = parseInput(schema, await body(c.req.raw));
    simulation.reset(options);
    if (pace) simulation.fleet.paceLimit = pace;
    for (const [region, layout] of Object.entries(regions ?? {})) simulation.fleet.layouts.set(region, layout);
    return c.json({ ...options, ...(pace && { pace }), ...(regions && { regions }) });
  });
}
