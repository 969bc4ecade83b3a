import type { Hono } from 'hono';
import { z } from 'zod';
import { parseAmount, type Amount } from '../domain/fleet/amount';
import { ExtensionError } from '../sdk/server';
import { body, parseInput, milliseconds } from './controlInput';
import { controllerSchema } from './controllers/spec';
import type { Simulation } from './simulation';
import { hasTask, listTaskSlots, type Job } from './twine/job';
import { addJob, removeJob, resizeJob, restartTasks, viewJob } from './twine/jobs';

/** The part of the control API that is about jobs. */

const MAX_TASKS = 2_000_000;
/** The tasks of a job must fit into one body for its controller. */
const MAX_CONTROLLED_TASKS = 20_000;

const jobSizeSchema = z.number().int().nonnegative().max(MAX_TASKS);
const amountInput = z.union([z.number(), z.string()]).transform((value, context): Amount => {
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
  tasks: jobSizeSchema,
  version: z.string().min(1),
  nSmall: amountInput.default({ percent: 10 }),
  budget: amountInput.default({ percent: 20 }),
  timings: z
    .strictObject({
      fetchMs: milliseconds.default(3000),
      stopMs: milliseconds.default(1000),
      startMs: milliseconds.default(6000),
    })
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
      min: jobSizeSchema.min(1),
      max: jobSizeSchema,
      targetCpu: z.number().gt(0).max(1).default(0.4),
      everyMs: z.number().positive().default(60_000),
    })
    .refine(({ min, max }) => min <= max, { error: 'min is more than max' })
    .optional(),
});

export function addJobRoutes(app: Hono, simulation: Simulation): void {
  const find = (name: string): Job => {
    const job = simulation.fleet.jobs.get(name);
    if (job) return job;
    throw new ExtensionError('unknown-job', `no job ${name}`, { status: 404 });
  };
  app.post('/jobs', async (c) => {
    const { tasks, service, controller, autoscale, ...spec } = parseInput(jobSchema, await body(c.req.raw));
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
    const { tasks } = parseInput(z.strictObject({ tasks: jobSizeSchema }), await body(c.req.raw));
    checkSize(tasks, job.control);
    resizeJob(simulation, job, tasks);
    return c.json(viewJob(simulation, job));
  });
  app.delete('/jobs/:name', (c) => {
    removeJob(simulation, find(c.req.param('name')));
    return c.json({});
  });
  app.post('/jobs/:name/restart', async (c) => {
    const job = find(c.req.param('name'));
    const slot = z
      .int()
      .nonnegative()
      .refine((value) => hasTask(job, value), { error: `no slot of ${job.name}` });
    const { slots = listTaskSlots(job) } = parseInput(
      z.strictObject({ slots: z.array(slot).optional() }),
      await body(c.req.raw),
    );
    restartTasks(simulation, job, slots);
    return c.json(viewJob(simulation, job));
  });
}

function checkSize(tasks: number, control: object | null | undefined): void {
  if (control && tasks > MAX_CONTROLLED_TASKS)
    throw new ExtensionError('invalid-request', `tasks: a job with a controller has at most ${MAX_CONTROLLED_TASKS}`);
}
